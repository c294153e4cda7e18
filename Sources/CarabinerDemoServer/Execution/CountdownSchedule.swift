/// The events of a countdown: its numbers, and heartbeats between them if the interval is long.
struct CountdownSchedule: Sequence, IteratorProtocol, Sendable {
  enum Event: Sendable, Hashable {
    case number(Int)
    case heartbeat
    /// The countdown fails.
    case failure
  }

  /// An event, and the time since the previous one.
  struct Step: Sendable, Hashable {
    let pause: Duration
    let event: Event
  }

  /// The highest start of a countdown.
  static let highest = 100_000
  /// The longest interval between two numbers, in milliseconds.
  static let longestInterval = 60_000

  private let interval: Duration
  private let heartbeat: Duration
  private let failAt: Int?
  private var number: Int
  /// The time until the next number.
  private var remaining: Duration

  init(from: Int, every interval: Duration, failAt: Int?, heartbeat: Duration) {
    self.interval = interval
    self.heartbeat = heartbeat
    self.failAt = failAt
    number = from
    remaining = interval
  }

  mutating func next() -> Step? {
    guard number >= 0 else { return nil }
    if remaining > heartbeat {
      remaining -= heartbeat
      return Step(pause: heartbeat, event: .heartbeat)
    }
    let pause = remaining
    remaining = interval
    guard number != failAt else {
      number = -1
      return Step(pause: pause, event: .failure)
    }
    defer { number -= 1 }
    return Step(pause: pause, event: .number(number))
  }
}
