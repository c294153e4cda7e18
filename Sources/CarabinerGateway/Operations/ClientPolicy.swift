internal import Synchronization

/// The rules of a manifest for clients, which are applied before an operation enters the chain.
package final class ClientPolicy: Sendable {
  /// The origins whose pages may read responses; nil without `serve.cors`.
  let crossOrigin: CrossOriginRule?

  /// The operations that may run; nil without `serve.operations`.
  let operations: OperationRules?

  /// Which responses are compressed; nil without `serve.compression`.
  let compression: CompressionRule?

  package init(
    crossOrigin: CrossOriginRule? = nil, operations: OperationRules? = nil, compression: CompressionRule? = nil
  ) {
    self.crossOrigin = crossOrigin
    self.operations = operations
    self.compression = compression
  }
}

/// The policy of the current generation.
///
/// A gateway without one pays one atomic load per request.
package final class CurrentPolicy: Sendable {
  private let isSet = Atomic(false)
  private let policy = Mutex<ClientPolicy?>(nil)

  /// No policy.
  package init() {}

  /// The policy; nil if the manifest has none of its rules.
  var value: ClientPolicy? { isSet.load(ordering: .acquiring) ? policy.withLock(\.self) : nil }

  /// Replaces the policy, for requests that begin later.
  package func set(_ next: ClientPolicy?) {
    policy.withLock { $0 = next }
    isSet.store(next != nil, ordering: .releasing)
  }
}
