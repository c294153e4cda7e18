internal import NIOCore
internal import Synchronization

/// Calls handlers of connections after a time. Handlers that are due at about the same time share a timer of their event loop.
///
/// There may be thousands of new connections in a second. A timer of its own for each would use a kilobyte until it is due, even
/// after its connection has ended. An event loop also searches all its timers to cancel one. So no timer is cancelled: a handler
/// that has been deallocated is not called, and only a hundred bytes remain until the timer fires.
final class SharedTimers: Sendable {
  private struct Key: Hashable {
    let loop: ObjectIdentifier
    let due: NIODeadline
  }

  private final class Calls {
    var all: [() -> Void] = []
  }

  private let waiting = Mutex<[Key: NIOLoopBound<Calls>]>([:])

  /// The number of timers that event loops have for the handlers.
  var count: Int { waiting.withLock { $0.count } }

  /// Calls a handler of a connection of `loop`, on `loop`, unless it has been deallocated by then.
  ///
  /// - Parameter time: The time to wait. The call may come later by a twentieth of it.
  func call<Handler: AnyObject>(
    _ handler: Handler, after time: TimeAmount, on loop: any EventLoop, _ body: @escaping (Handler) -> Void
  ) {
    let key = Key(loop: ObjectIdentifier(loop), due: Self.due(after: time, loop.now))
    let (calls, isNew) = waiting.withLock { waiting in
      if let known = waiting[key] { return (known, false) }
      let made = NIOLoopBound(Calls(), eventLoop: loop)
      waiting[key] = made
      return (made, true)
    }
    calls.value.all.append { [weak handler] in if let handler { body(handler) } }
    if isNew { loop.scheduleTask(deadline: key.due) { self.timeIsUp(key) } }
  }

  private func timeIsUp(_ key: Key) {
    let calls = waiting.withLock { $0.removeValue(forKey: key) }
    for call in calls?.value.all ?? [] { call() }
  }

  /// The time at which the timer fires: `now` plus `time`, rounded up. The step is a power of ten in milliseconds, at most a
  /// twentieth of `time`.
  private static func due(after time: TimeAmount, _ now: NIODeadline) -> NIODeadline {
    var step = TimeAmount.milliseconds(1).nanoseconds
    while step <= time.nanoseconds / 200 { step *= 10 }
    let exact = now + time
    return exact + .nanoseconds((step - Int64(exact.uptimeNanoseconds % UInt64(step))) % step)
  }
}
