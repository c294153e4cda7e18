internal import Carabiner
internal import CarabinerDigest
internal import CarabinerRESP
package import CarabinerRedis
internal import CarabinerWire

/// Mutations that run once for each key that a client chooses (`serve.idempotency`).
package final class IdempotencyRule: Sendable {
  /// The length of a key, in bytes.
  private static let keyBytes = 1...255

  /// The field with the key.
  private let field: String
  private let maximumBytes: Int
  private let runsWithoutStore: Bool
  private let keys: MutationKeys
  /// The field that identifies a client; nil to use the address.
  private let clientField: String?

  /// - Parameters:
  ///   - field: The name of the request header with the key.
  ///   - maximumBytes: The largest answer that is kept.
  ///   - runsWithoutStore: Whether mutations run without protection while the store is not available.
  ///   - clientField: The request header that identifies a client; nil to use the address.
  package init(field: String, maximumBytes: Int, runsWithoutStore: Bool, keys: MutationKeys, clientField: String?) {
    (self.field, self.maximumBytes, self.runsWithoutStore) = (field, maximumBytes, runsWithoutStore)
    (self.keys, self.clientField) = (keys, clientField)
  }

  /// The key of a request; nil if it has none, or is not a mutation.
  ///
  /// - Parameters:
  ///   - operations: The operations of the request.
  ///   - isList: Whether the client sent them as a list.
  /// - Throws: A refusal if the key is malformed, for a list of operations, or if two fields identify the client.
  func key(
    _ request: GatewayRequest, _ operations: [DynamicOperation], isList: Bool
  ) throws(RequestRefusal) -> IdempotencyKey? {
    let headers = request.head.headers
    guard let key = headers[field], operations.contains(where: { $0.operationType == .mutation }) else { return nil }
    guard Self.keyBytes.contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      headers.values(for: field).count == 1
    else {
      throw RequestRefusal(
        400, "\(field) is not a key: send it once, with 1 to \(Self.keyBytes.upperBound) visible ASCII characters",
        code: "IDEMPOTENCY_KEY_INVALID")
    }
    guard !isList else {
      throw RequestRefusal(
        400, "a list of operations cannot have \(field); send the mutations one by one, each with a key of its own",
        code: "IDEMPOTENCY_KEY_INVALID")
    }
    let client = try RateLimiter.key(headers, request.client, field: clientField)
    return IdempotencyKey(key, client: client, operations[0])
  }

  /// The next step for a mutation with a key.
  enum Decision: Sendable {
    /// The mutation runs. The lease is nil if it runs without protection.
    case run(MutationLease?)
    case replay(StoredAnswer)
    case refuse(RequestRefusal)
  }

  /// Claims a key.
  func claim(_ key: IdempotencyKey, _ metrics: IdempotencyMetrics) async -> Decision {
    do throws(RedisError) {
      switch try await keys.claim(key.name, fingerprint: key.fingerprint) {
      case .first(let lease):
        metrics.count(.first)
        return .run(lease)
      case .answered(let bytes):
        guard let answer = StoredAnswer(bytes) else { return refuse(.unknown, metrics) }
        metrics.count(.replayed)
        return .replay(answer)
      case .running: return refuse(.running, metrics)
      case .reused: return refuse(.reused, metrics)
      case .unknown: return refuse(.unknown, metrics)
      }
    } catch {
      guard !runsWithoutStore else {
        metrics.count(.unprotected)
        return .run(nil)
      }
      return refuse(.unavailable, metrics)
    }
  }

  private func refuse(_ result: IdempotencyMetrics.Result, _ metrics: IdempotencyMetrics) -> Decision {
    metrics.count(result)
    let refusal =
      switch result {
      case .running:
        RequestRefusal(
          409, "the mutation with this \(field) is running; ask again later for its result", code: "IDEMPOTENCY_IN_PROGRESS",
          headers: ["Retry-After": "1"])
      case .reused:
        RequestRefusal(
          422, "another request had this \(field); choose a new key for each mutation", code: "IDEMPOTENCY_KEY_REUSED")
      case .unavailable:
        RequestRefusal(
          503, "mutations with \(field) cannot run now, because the store of the keys is not available; try again later",
          code: "IDEMPOTENCY_UNAVAILABLE", headers: ["Retry-After": "1"])
      case .first, .replayed, .unprotected, .unknown:
        RequestRefusal(
          409,
          "the mutation with this \(field) was sent, and its result is not known; look at its effect before you use a new key",
          code: "IDEMPOTENCY_UNKNOWN")
      }
    return .refuse(refusal)
  }

  /// Ends the lease of a mutation that has a result.
  func end(_ lease: MutationLease, with answer: StoredAnswer) async {
    let bytes = answer.bytes
    await lease.end(with: bytes.count <= maximumBytes ? bytes : nil)
  }
}

/// The key of a mutation, and the digest of the mutation.
struct IdempotencyKey: Sendable {
  /// The digest of client and key.
  let name: [UInt8]
  /// The digest of document, variables and operation.
  let fingerprint: [UInt8]

  init(_ key: String, client: String, _ operation: DynamicOperation) {
    name = Self.digest([Array(client.utf8), Array(key.utf8)])
    fingerprint = Self.digest([
      Array(operation.document.utf8), JSONValue.object(operation.variables).serialized(sortedKeys: true),
      Array((operation.operationName ?? "").utf8),
    ])
  }

  /// Each part has a digest of its own. Otherwise two different lists of parts could have the same bytes.
  private static func digest(_ parts: [[UInt8]]) -> [UInt8] { Digest.sha256(parts.flatMap { Digest.sha256($0) }) }
}
