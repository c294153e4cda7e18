/// An error that steers the chain and that no interceptor handles.
public protocol ChainControl: Error {}

extension CancellationError: ChainControl {}

extension Error {
  /// Whether this error belongs to the chain itself: cancellation, or a request for a retry.
  package var isChainControl: Bool { self is any ChainControl }
}
