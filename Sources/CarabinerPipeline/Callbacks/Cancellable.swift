/// Something that can be cancelled, for example a request.
public protocol Cancellable: AnyObject {
  /// Ends the work. A second call does nothing.
  func cancel()
}

/// Something that has no work to cancel.
public final class EmptyCancellable: Cancellable, Sendable {
  /// Nothing to cancel.
  public init() {}

  public func cancel() {}
}
