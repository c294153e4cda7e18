internal import NIOCore
internal import Synchronization

/// Calls the handlers of connections after a time, with one timer of an event loop for all that are due at about the same time.
///
/// A timer uses about a kilobyte until it is due, also after its connection has ended, and there may be thousands of connections in a
/// second. To cancel a timer, an event loop searches all of its timers. So nothing is cancelled here: a handler that has been
/// deallocated is not called, and leaves a hundred bytes until then.
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

  /// The time after `now`, rounded up to a power of ten milliseconds that is at most a twentieth of it.
  private static func due(after time: TimeAmount, _ now: NIODeadline) -> NIODeadline {
    var step = TimeAmount.milliseconds(1).nanoseconds
    while step <= time.nanoseconds / 200 { step *= 10 }
    let exact = now + time
    return exact + .nanoseconds((step - Int64(exact.uptimeNanoseconds % UInt64(step))) % step)
  }
}
