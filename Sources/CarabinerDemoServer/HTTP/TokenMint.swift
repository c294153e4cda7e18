internal import Synchronization

/// Issues tokens and checks their validity.
final class TokenMint: Sendable {
  /// The validity of a token.
  struct Terms: Sendable {
    /// The lifetime in seconds.
    var lifetime = 3600.0
    /// The number of requests; nil for no limit.
    var uses: Int?
  }

  private struct Entry {
    let expiry: ContinuousClock.Instant
    var usesLeft: Int?
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var issued = 0
  }

  /// The most stored tokens. Expired ones are removed first, then the oldest.
  private static let maximumTokens = 10_000

  let terms: Terms
  private let state = Mutex(State())

  init(terms: Terms = Terms()) { self.terms = terms }

  /// The number of issued tokens.
  var issued: Int { state.withLock { $0.issued } }

  /// A new token.
  func issue(at now: ContinuousClock.Instant = .now) -> String {
    let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined(separator: "-")
    let entry = Entry(expiry: now + .seconds(terms.lifetime), usesLeft: terms.uses)
    state.withLock { state in
      state.issued += 1
      if state.entries.count >= Self.maximumTokens {
        state.entries = state.entries.filter { $0.value.expiry > now && $0.value.usesLeft != 0 }
        if state.entries.count >= Self.maximumTokens, let oldest = state.entries.min(by: { $0.value.expiry < $1.value.expiry }) {
          state.entries[oldest.key] = nil
        }
      }
      state.entries[token] = entry
    }
    return token
  }

  /// Uses a token for one request. Returns false if it is unknown, expired or used up.
  func accept(authorization: String?, at now: ContinuousClock.Instant = .now) -> Bool {
    guard let parts = authorization?.split(separator: " ", omittingEmptySubsequences: true), parts.count == 2,
      parts[0].lowercased() == "bearer"
    else { return false }
    let token = String(parts[1])
    return state.withLock { state in
      guard var entry = state.entries[token] else { return false }
      guard entry.expiry > now, entry.usesLeft != 0 else {
        state.entries[token] = nil
        return false
      }
      entry.usesLeft = entry.usesLeft.map { $0 - 1 }
      state.entries[token] = entry
      return true
    }
  }
}
