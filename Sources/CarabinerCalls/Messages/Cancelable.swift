/// Cancels a call.
public struct Cancelable: Sendable {
  /// Cancels the call. A second call of it, or one after the end, does nothing.
  public let cancel: @Sendable () -> Void

  /// Creates a value that cancels by a closure.
  public init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
}
