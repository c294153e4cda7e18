/// An error that controls the chain. Interceptors do not see it in `mapErrors`.
public protocol ControlFlowError: Error {}

extension CancellationError: ControlFlowError {}

extension Error {
  /// Whether this error controls the chain: cancellation, or a retry.
  package var isChainControl: Bool { self is any ControlFlowError }
}
