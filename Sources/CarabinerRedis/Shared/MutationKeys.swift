package import CarabinerRESP

/// The keys by which clients mark mutations that must run once, in the store of all gateways.
package final class MutationKeys: Sendable {
  /// The state of a key.
  package enum Claim: Sendable {
    /// The key is new. Its mutation runs under this lease, which the caller must end.
    case first(MutationLease)
    /// Its mutation ended with this answer.
    case answered([UInt8])
    /// Its mutation runs.
    case running
    /// It belongs to another request.
    case reused
    /// Its mutation was sent, and its end is not known or cannot be repeated.
    case unknown
  }

  /// The time after which a lease that was not renewed has ended.
  static let leaseTime: Int64 = 60_000
  /// How often a lease is renewed.
  static let renewal = Duration.seconds(20)
  private static let attempts = 2

  let store: SharedStore
  /// How long keys are kept, in milliseconds.
  let life: Int
  let endings: LateEndings

  /// - Parameter life: How long a key is kept after its last use.
  package init(_ store: SharedStore, life: Duration) {
    self.store = store
    self.life = Int(life / .milliseconds(1))
    endings = LateEndings(store)
  }

  /// Claims a key.
  ///
  /// - Parameters:
  ///   - name: The name of the key, 32 bytes.
  ///   - fingerprint: The digest of the request, 32 bytes.
  /// - Throws: ``RedisError`` if the store cannot be asked. The mutation must then not run as if it had the key.
  package func claim(_ name: [UInt8], fingerprint: [UInt8]) async throws(RedisError) -> Claim {
    let run = (0..<KeyRecord.runBytes).map { _ in UInt8.random(in: .min ... .max) }
    let lease = MutationLease(self, name: name, fingerprint: fingerprint, run: run)
    do throws(RedisError) {
      return try await claim(lease)
    } catch {
      // Redis may have taken the key, or take it later, and nothing runs under it.
      if error.code != .unavailable, error.code != .overloaded {
        // If it never takes it, there is nothing to give back.
        endings.add(isNeeded: false) { await lease.tryToRelease(isCertain: false) }
      }
      throw error
    }
  }

  private func claim(_ lease: MutationLease) async throws(RedisError) -> Claim {
    if store.now == nil { _ = try await store.send(CommandBatch()) }
    var commands = lease.writing(lease.running, condition: "NX")
    commands.append(lease.reading)
    for _ in 0..<Self.attempts {
      let replies = try await store.send(commands)
      guard replies.count == 2 else { throw RedisError(.protocolViolation, "Redis did not answer each command") }
      let (taken, value) = (replies[0], replies[1])
      guard taken.kind != .error else { throw SharedStore.refusal("SET", taken) }
      guard taken.isNull else { return .first(lease.renewed()) }
      guard value.kind != .error else { throw SharedStore.refusal("GET", value) }
      // A key may expire between both commands.
      if !value.isNull { return found(value.content ?? [], by: lease) }
    }
    return .running
  }

  private func found(_ value: ArraySlice<UInt8>, by lease: MutationLease) -> Claim {
    // Another program may have written it.
    guard let record = KeyRecord(value) else { return .unknown }
    guard record.fingerprint == lease.fingerprint else { return .reused }
    switch record.state {
    case .answered(let answer): return .answered(answer)
    case .unknown: return .unknown
    case .running(_, let renewed):
      // No gateway writes a time far from now.
      let isValid = store.now.map { abs($0 - renewed) <= Self.leaseTime } ?? true
      return isValid ? .running : .unknown
    }
  }
}
