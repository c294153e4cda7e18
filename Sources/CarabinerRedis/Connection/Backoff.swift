/// The delays before a connection is tried again: the first one doubled up to a maximum, each longer or shorter at random.
struct Backoff {
  private let first: Duration
  private let maximum: Duration
  private let jitter: Double
  private var next: Duration

  init(_ limits: RedisLimits) {
    (first, maximum, jitter) = (limits.firstDelay, limits.maximumDelay, limits.jitter)
    next = first
  }

  /// The next delay.
  mutating func delay(_ generator: inout some RandomNumberGenerator) -> Duration {
    let base = next
    next = min(next * 2, maximum)
    return base * Double.random(in: 1 - jitter...1 + jitter, using: &generator)
  }

  /// Begins with the first delay again.
  mutating func reset() { next = first }
}
