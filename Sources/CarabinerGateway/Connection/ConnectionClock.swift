internal import NIOCore

/// A handler of a connection with deadlines.
protocol TimedHandler: AnyObject {
  /// Acts on the deadlines that have passed.
  ///
  /// - Returns: The next deadline; nil if there is none, and the clock need not call again.
  func checkDeadlines(_ now: NIODeadline) -> NIODeadline?
}

/// The timer of a connection. It checks the deadlines of its request, or of all its HTTP/2 streams.
///
/// Streams share one timer, because a call in ``SharedTimers`` stays there until it is due, often seconds after the end of a
/// stream.
final class ConnectionClock {
  private let loop: any EventLoop
  private let timers: SharedTimers
  /// The longest time until the timer fires. It is not longer than any timeout, so no new deadline passes before the timer fires.
  private var shortest: TimeAmount
  private var handler: (any TimedHandler)?
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

  /// Calls `checkDeadlines` of the connection's handler, first at `due` or earlier, until it returns nil.
  func add(_ handler: any TimedHandler, until due: NIODeadline) {
    self.handler = handler
    if !isTimed { arm(due) }
  }

  /// Stops the checks, because the handler was removed.
  func stop() { handler = nil }

  private func arm(_ due: NIODeadline) {
    isTimed = true
    timers.call(self, after: min(due - loop.now, shortest), on: loop) { $0.timeIsUp() }
  }

  private func timeIsUp() {
    let next = handler?.checkDeadlines(loop.now)
    isTimed = false
    if let next { arm(next) } else { handler = nil }
  }
}
