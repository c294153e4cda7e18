internal import NIOCore

/// The timer of a connection. It checks the deadlines of its request, or of all its HTTP/2 streams.
///
/// Streams share one timer, because a call in ``SharedTimers`` stays there until it is due, often seconds after the end of a
/// stream.
final class ConnectionClock {
  private let loop: any EventLoop
  private let timers: SharedTimers
  /// The longest time until the timer fires. It is not longer than any timeout, so no new deadline passes before the timer fires.
  private var shortest: TimeAmount
  private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
  private var isTimed = false

  init(_ loop: any EventLoop, _ limits: GatewayLimits, _ timers: SharedTimers) {
    self.loop = loop
    self.timers = timers
    shortest = Self.shortest(limits)
  }

  /// Uses these limits when the timer is set the next time.
  func renew(_ limits: GatewayLimits) { shortest = Self.shortest(limits) }

  private static func shortest(_ limits: GatewayLimits) -> TimeAmount {
    min(limits.receiveTimeout, limits.idleTimeout, limits.sendTimeout)
  }

  /// Calls `checkDeadlines` of a handler, first at `due` or earlier, until it returns nil.
  func add(_ handler: ConnectionHandler, until due: NIODeadline) {
    handlers[ObjectIdentifier(handler)] = handler
    if !isTimed { arm(due) }
  }

  /// Stops the checks of a handler whose channel has closed.
  func remove(_ handler: ConnectionHandler) { handlers[ObjectIdentifier(handler)] = nil }

  private func arm(_ due: NIODeadline) {
    isTimed = true
    timers.call(self, after: min(due - loop.now, shortest), on: loop) { $0.timeIsUp() }
  }

  private func timeIsUp() {
    let now = loop.now
    var next: NIODeadline?
    for (id, handler) in handlers {
      if let due = handler.checkDeadlines(now) {
        next = min(next ?? due, due)
      } else {
        handlers[id] = nil
      }
    }
    isTimed = false
    if let next { arm(next) }
  }
}
