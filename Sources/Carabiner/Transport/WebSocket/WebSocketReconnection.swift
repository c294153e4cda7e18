/// The number and the delays of attempts to reconnect a lost WebSocket.
///
/// Only an acknowledged connection is reconnected. If the first attempt to connect fails, its operations fail at once.
public struct WebSocketReconnection: Sendable {
  /// The default number of attempts.
  public static let defaultMaximumAttempts = 5
  /// The time after which a connection counts as stable and the attempts are counted from 0 again.
  public static let stableAfter = Duration.seconds(10)

  /// The maximal number of attempts before the operations fail; 0 for none.
  public var maximumAttempts: Int
  /// The delay before the first attempt.
  public var baseDelay: Duration
  /// The factor between one delay and the next.
  public var multiplier: Double
  /// The longest delay.
  public var maximumDelay: Duration
  /// Returns a random number from 0 to 1, by which the random half of a delay is multiplied.
  ///
  /// Half of each delay is random, so that the clients of a restarted server do not all reconnect at the same time.
  public var jitter: @Sendable () -> Double

  /// Creates a policy.
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

  /// The delay before an attempt; the first attempt is 1.
  func delay(beforeAttempt attempt: Int) -> Duration {
    var delay = baseDelay
    for _ in 1..<max(attempt, 1) where delay < maximumDelay { delay = delay * multiplier }
    return min(delay, maximumDelay) * (0.5 + 0.5 * min(max(jitter(), 0), 1))
  }
}
