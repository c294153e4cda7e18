internal import Synchronization
internal import Tracing

/// The time within one trace: the system time at its start, plus the time of a monotonic clock.
///
/// Inner spans therefore always lie within outer ones, even if the system clock is changed.
final class TraceClock: Sendable {
  /// A point in time.
  struct Instant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (left: Instant, right: Instant) -> Bool { left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch }
  }

  private let began = ContinuousClock.now
  /// The start of the trace.
  let start = Instant(nanosecondsSinceEpoch: DefaultTracerClock.now.nanosecondsSinceEpoch)
  /// The time at which the clock was stopped; 0 while it runs.
  private let end = Atomic<UInt64>(0)

  /// The current time, or the time at which the clock was stopped.
  var now: Instant {
    let end = end.load(ordering: .relaxed)
    return end == 0 ? running : Instant(nanosecondsSinceEpoch: end)
  }

  private var running: Instant {
    let (seconds, attoseconds) = (ContinuousClock.now - began).components
    let elapsed = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    return Instant(nanosecondsSinceEpoch: start.nanosecondsSinceEpoch &+ elapsed)
  }

  /// The time that is `duration` before `later`, but not before the start.
  func instant(before later: Instant, by duration: Duration) -> Instant {
    let (seconds, attoseconds) = duration.components
    let elapsed = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
    let sinceStart = later.nanosecondsSinceEpoch &- start.nanosecondsSinceEpoch
    return Instant(nanosecondsSinceEpoch: later.nanosecondsSinceEpoch &- min(elapsed, sinceStart))
  }

  /// Stops the clock. Spans that end later get the current time as their end.
  ///
  /// - Returns: The time at which the clock was stopped.
  func stop() -> Instant {
    let now = running
    let (_, earlier) = end.compareExchange(expected: 0, desired: now.nanosecondsSinceEpoch, ordering: .relaxed)
    return earlier == 0 ? now : Instant(nanosecondsSinceEpoch: earlier)
  }
}
