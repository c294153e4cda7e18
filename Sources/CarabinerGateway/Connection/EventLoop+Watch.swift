internal import NIOCore

/// What a timer knows of a handler: nothing, once that is gone.
private final class Watched<Handler: AnyObject> {
  weak var handler: Handler?

  init(_ handler: Handler) { self.handler = handler }
}

extension EventLoop {
  /// Calls a handler at a time, unless it is gone by then.
  ///
  /// To take a timer back the loop looks through all of them, which with thousands of connections would hold up the others whenever one
  /// ends. So timers are left to come, and find nobody.
  func watch<Handler: AnyObject>(_ handler: Handler, until due: NIODeadline, _ body: @escaping @Sendable (Handler) -> Void) {
    let bound = NIOLoopBound(Watched(handler), eventLoop: self)
    scheduleTask(deadline: due) {
      if let handler = bound.value.handler { body(handler) }
    }
  }
}
