internal import Glibc

/// The loop's clock, in nanoseconds: a request reads it several times, and a `Duration` is 128 bits wide.
enum MonotonicTime {
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The time after a delay; the maximum if the clock cannot represent it.
  static func after(_ delay: Duration) -> UInt64 {
    let (seconds, attoseconds) = max(delay, .zero).components
    let (nanoseconds, isTooLarge) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !isTooLarge else { return .max }
    let (sum, overflows) = now.addingReportingOverflow(nanoseconds)
    return overflows ? .max : sum &+ UInt64(attoseconds / 1_000_000_000)
  }

  /// The milliseconds from now, rounded up.
  static func milliseconds(until due: UInt64) -> Int {
    let now = now
    return due <= now ? 0 : Int(clamping: (due - now + 999_999) / 1_000_000)
  }
}
