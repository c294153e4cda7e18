internal import FoundationEssentials

/// Values of a column in a list.
enum TextColumn {
  /// A number, right-aligned in a column.
  static func right(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
  }

  /// A time of a record, in UTC.
  static func time(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
  }
}
