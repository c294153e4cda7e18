/// The figures of an exchange.
public struct HTTPMetrics: Sendable, Hashable {
  /// The time from the beginning to the end.
  public var duration: Duration
  /// The time from the beginning to the head of the response; nil if none arrived.
  public var timeToHead: Duration?
  /// The number of bytes of the request's body.
  public var sentBytes: Int
  /// The number of bytes of the response's body.
  public var receivedBytes: Int
  /// How often the request was sent. Retries of HTTP interceptors count.
  public var attempts: Int

  /// Creates figures.
  public init(duration: Duration, timeToHead: Duration? = nil, sentBytes: Int = 0, receivedBytes: Int = 0, attempts: Int = 1) {
    self.duration = duration
    self.timeToHead = timeToHead
    self.sentBytes = sentBytes
    self.receivedBytes = receivedBytes
    self.attempts = attempts
  }
}
