/// How often and how fast a WebSocket that was lost is opened again.
///
/// A connection that never came about is an error at once; only one that was acknowledged is opened again.
public struct WebSocketReconnection: Sendable {
  /// How often it is tried unless told otherwise.
  public static let defaultMaximumAttempts = 5
  /// How long a connection must last to count as one that works.
  public static let stableAfter = Duration.seconds(10)

  /// How often it is tried before the operations fail; 0 for never.
  public var maximumAttempts: Int
  /// How long to wait before the first attempt.
  public var baseDelay: Duration
  /// What each further delay is multiplied by.
  public var multiplier: Double
  /// The longest delay.
  public var maximumDelay: Duration
  /// Brings a number from 0 to 1: how much of the part of a delay that is left to chance is waited.
  ///
  /// Half of each delay is left to chance, so that the clients of a server that went away do not all come back at once.
  public var jitter: @Sendable () -> Double

  /// A policy, each value with its default.
  public init(
    maximumAttempts: Int = Self.defaultMaximumAttempts, baseDelay: Duration = .milliseconds(500), multiplier: Double = 2,
    maximumDelay: Duration = .seconds(30), jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
  ) {
    self.maximumAttempts = maximumAttempts
    self.baseDelay = baseDelay
    self.multiplier = multiplier
    self.maximumDelay = maximumDelay
    self.jitter = jitter
  }

  /// How long to wait before an attempt; the first is 1.
  func delay(beforeAttempt attempt: Int) -> Duration {
    var delay = baseDelay
    for _ in 1..<max(attempt, 1) where delay < maximumDelay { delay = delay * multiplier }
    return min(delay, maximumDelay) * (0.5 + 0.5 * min(max(jitter(), 0), 1))
  }
}
