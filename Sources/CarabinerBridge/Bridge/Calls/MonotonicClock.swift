internal import Glibc

/// CLOCK_MONOTONIC, the clock of the header's deadlines.
package enum MonotonicClock {
  package static var nanoseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The deadline this many seconds from now; the largest value for none.
  static func deadline(inSeconds seconds: Double?) -> UInt64 {
    guard let seconds, seconds > 0, seconds < 1e9 else { return .max }
    return nanoseconds + UInt64(seconds * 1e9)
  }
}
