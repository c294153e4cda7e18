internal import NIOCore

/// A timer's weak reference to a handler.
private final class Watched<Handler: AnyObject> {
  weak var handler: Handler?

  init(_ handler: Handler) { self.handler = handler }
}

extension EventLoop {
  /// Calls a handler at a time, unless it has been deallocated by then.
  ///
  /// Timers are never cancelled: an event loop searches all of its timers to cancel one, which is slow with thousands of
  /// connections. A timer whose handler is gone does nothing.
  func watch<Handler: AnyObject>(_ handler: Handler, until due: NIODeadline, _ body: @escaping @Sendable (Handler) -> Void) {
    let bound = NIOLoopBound(Watched(handler), eventLoop: self)
    scheduleTask(deadline: due) {
      if let handler = bound.value.handler { body(handler) }
    }
  }
}
