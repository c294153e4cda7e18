/// A second in UTC, as statements have it: `2026-11-22T00:00:00Z`.
package struct ReleaseTime: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Seconds since 1970, without leap seconds.
  package let seconds: Int

  private static let secondsADay = 86_400
  /// The first second after the year 9999, which the notation cannot write.
  private static let end = 253_402_300_800

  /// - Parameter seconds: Seconds since 1970. Times outside of the years 1970 to 9999 become the nearest time inside.
  package init(seconds: Int) { self.seconds = min(max(seconds, 0), Self.end - 1) }

  /// Creates a time from the numbers of a calendar.
  ///
  /// - Returns: nil if the date does not exist, or if the year is not one of 1970 to 9999.
  init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    guard (1970...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year),
      (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
    else { return nil }
    seconds = Self.days(before: year, month, day) * Self.secondsADay + hour * 3600 + minute * 60 + second
  }

  /// Reads a time.
  ///
  /// - Returns: nil if the bytes are not exactly `YYYY-MM-DDTHH:MM:SSZ`, or if the date does not exist.
  package init?(_ text: some Collection<UInt8>) {
    let bytes = Array(text)
    let form = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
    guard bytes.count == form.count else { return nil }
    var numbers = [0]
    for (byte, expected) in zip(bytes, form) {
      if expected == UInt8(ascii: "d") {
        guard let digit = byte.decimalDigit else { return nil }
        numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + digit
      } else {
        guard byte == expected else { return nil }
        numbers.append(0)
      }
    }
    self.init(
      year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4], second: numbers[5])
  }

  package static func < (left: ReleaseTime, right: ReleaseTime) -> Bool { left.seconds < right.seconds }

  /// The time a number of seconds later.
  package func adding(seconds count: Int) -> ReleaseTime {
    let (sum, overflow) = seconds.addingReportingOverflow(count)
    return ReleaseTime(seconds: overflow ? (count < 0 ? 0 : Self.end) : sum)
  }

  package var description: String {
    let (year, month, day) = Self.date(ofDay: seconds / Self.secondsADay)
    let rest = seconds % Self.secondsADay
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(month))-\(two(day))T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
  }

  // MARK: The calendar

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of leap years from the year 1 to a year.
  private static func leapYears(to year: Int) -> Int { year / 4 - year / 100 + year / 400 }

  private static func days(beforeYear year: Int) -> Int {
    (year - 1970) * 365 + leapYears(to: year - 1) - leapYears(to: 1969)
  }

  private static func days(before year: Int, _ month: Int, _ day: Int) -> Int {
    days(beforeYear: year) + (1..<month).reduce(0) { $0 + days(in: $1, of: year) } + day - 1
  }

  private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
    // 366 days a year: the estimate is never too late.
    var year = 1970 + day / 366
    while days(beforeYear: year + 1) <= day { year += 1 }
    var rest = day - days(beforeYear: year)
    var month = 1
    while rest >= days(in: month, of: year) {
      rest -= days(in: month, of: year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}

extension UInt8 {
  /// The value of a decimal digit; nil for another byte.
  var decimalDigit: Int? { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self) - 48 : nil }
}
