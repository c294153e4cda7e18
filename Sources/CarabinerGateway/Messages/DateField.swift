internal import FoundationEssentials
internal import Synchronization

/// The value of the Date field (RFC 9110, 6.6.1).
enum DateField {
  private struct Cached {
    var second: Int
    var text: String
  }

  private static let cached = Mutex(Cached(second: -1, text: ""))
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The text for the current time. It is cached for one second.
  static var now: String {
    let second = Int(Date().timeIntervalSince1970)
    return cached.withLock { cached in
      if cached.second != second { cached = Cached(second: second, text: text(of: second)) }
      return cached.text
    }
  }

  /// A time as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
  static func text(of second: Int) -> String {
    let (day, rest) = second.quotientAndRemainder(dividingBy: 86_400)
    // 1 January 1970 was a Thursday. Years are counted from March, so that a leap day is the last day of its year.
    let sinceMarch = day + 719_468
    let (era, dayOfEra) = sinceMarch.quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let year = era * 400 + yearOfEra + (month < 10 ? 0 : 1)
    return "\(days[(day + 4) % 7]), \(pair(dayOfMonth)) \(months[(month + 2) % 12]) \(year) "
      + "\(pair(rest / 3600)):\(pair(rest / 60 % 60)):\(pair(rest % 60)) GMT"
  }

  private static func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
