/// The delays before a watch is begun again: the first one doubled up to a maximum, each longer or shorter at random.
struct EtcdBackoff {
  private let limits: EtcdLimits
  private var next: Duration

  init(_ limits: EtcdLimits) {
    self.limits = limits
    next = limits.firstDelay
  }

  /// The next delay.
  mutating func delay(_ generator: inout some RandomNumberGenerator) -> Duration {
    let base = next
    next = min(next * 2, limits.maximumDelay)
    return base * Double.random(in: 1 - limits.jitter...1 + limits.jitter, using: &generator)
  }

  /// Begins with the first delay again.
  mutating func reset() { next = limits.firstDelay }
}
