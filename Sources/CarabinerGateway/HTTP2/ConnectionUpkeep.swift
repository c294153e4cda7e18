internal import NIOCore

/// When the server asks a client whether it is still there, and when it closes a connection that is not used.
///
/// The library can do both, but it cancels a timer for each read and each stream. An event loop searches all of its timers to cancel
/// one, so each connection would slow down all others.
struct ConnectionUpkeep {
  /// The next thing to do for a connection.
  enum Step {
    case wait
    case ping
    case close
  }

  private let idleTimeout: TimeAmount
  private let keepAlive: TimeAmount
  private var lastRead: NIODeadline
  /// When the client was asked; nil if it has sent something since.
  private var asked: NIODeadline?

  init(_ limits: GatewayLimits, at now: NIODeadline) {
    idleTimeout = limits.idleTimeout
    keepAlive = limits.keepAlive
    lastRead = now
  }

  /// The client has sent something.
  mutating func didRead(at now: NIODeadline) {
    lastRead = now
    asked = nil
  }

  /// The next step.
  ///
  /// - Parameter idleSince: When the last stream ended; nil if a stream is open.
  mutating func step(at now: NIODeadline, idleSince: NIODeadline?) -> Step {
    if let idleSince, now >= idleSince + idleTimeout { return .close }
    guard now >= (asked ?? lastRead) + keepAlive else { return .wait }
    if asked != nil { return .close }
    asked = now
    return .ping
  }

  /// How long to wait until the next look. A stream may end before, so it is at most the shorter time limit.
  func wait(after now: NIODeadline, idleSince: NIODeadline?) -> TimeAmount {
    let latest = min((asked ?? lastRead) + keepAlive - now, min(idleTimeout, keepAlive))
    return idleSince.map { min(latest, $0 + idleTimeout - now) } ?? latest
  }
}
