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

  /// The time after a delay in seconds, and one millisecond more, because a timeout must not be early.
  static func after(seconds: Double) -> UInt64 {
    now &+ UInt64(min(max(seconds, 0), maximumSeconds) * 1e9) &+ 1_000_000
  }

  /// The longest delay in seconds that is counted: eleven days, as for libcurl's timeouts.
  private static let maximumSeconds = 1e6

  /// The time after a timeout in seconds; the maximum if it is infinite.
  static func after(timeout: Double) -> UInt64 { timeout.isFinite ? after(seconds: timeout) : .max }

  /// The seconds from now; infinite for the maximum.
  static func seconds(until due: UInt64) -> Double {
    let now = now
    return due == .max ? .infinity : due <= now ? 0 : Double(due - now) / 1e9
  }

  /// The milliseconds from now, rounded up.
  static func milliseconds(until due: UInt64) -> Int {
    let now = now
    return due <= now ? 0 : Int(clamping: (due - now + 999_999) / 1_000_000)
  }
}
