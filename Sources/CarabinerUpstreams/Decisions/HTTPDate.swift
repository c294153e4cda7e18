/// A date in a header, in any of the three forms of RFC 9110, 5.6.7.
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  /// The length of the longest form, with a full name of the day.
  private static let maximumBytes = 40

  /// The seconds since 1970; nil if the text is not a date.
  static func seconds(in text: String) -> Int? {
    guard text.utf8.count <= maximumBytes else { return nil }
    var words = text.split { $0 == " " || $0 == "," || $0 == "-" || $0 == ":" }
    // Sun Nov  6 08:49:37 1994
    if words.count == 7 { words = [words[0], words[2], words[1], words[6], words[3], words[4], words[5], "GMT"] }
    guard words.count == 8, words[7] == "GMT", let month = months.firstIndex(where: { $0 == words[2] }) else { return nil }
    let numbers = [1, 3, 4, 5, 6].compactMap { number(words[$0]) }
    guard numbers.count == 5, (1...31).contains(numbers[0]), numbers[2] < 24, numbers[3] < 60, numbers[4] <= 60 else {
      return nil
    }
    return 86_400 * days(year: year(numbers[1]), month: month, day: numbers[0]) + 3600 * numbers[2] + 60 * numbers[3] + numbers[4]
  }

  /// The full year of a number that may have two digits, as in `Sunday, 06-Nov-94 08:49:37 GMT`.
  private static func year(_ number: Int) -> Int { number >= 100 ? number : number < 70 ? 2000 + number : 1900 + number }

  /// The days since 1970.
  ///
  /// - Parameter month: From 0. Years begin in March here, so that a leap day is the last of its year.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month < 2 ? year - 1 : year
    let before = 365 * year + year / 4 - year / 100 + year / 400
    return before + (153 * ((month + 10) % 12) + 2) / 5 + day - 1 - 719_468
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.count <= 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }
}
