internal import CarabinerWire

/// The text of a field in Redis: 13 digits with the time of receipt in milliseconds since 1970, and raw JSON.
enum StoredValue {
  private static let digits = 13
  private static let largestTime: Int64 = 9_999_999_999_999
  /// A time may be this much later than the clock of Redis, in milliseconds.
  private static let tolerance: Int64 = 60_000

  /// Appends a value to a command.
  ///
  /// - Parameter received: The time of receipt by the clock of Redis.
  static func text(_ value: ArraySlice<UInt8>, received: Int64) -> [UInt8] {
    var text = [UInt8](repeating: 0x30, count: digits)
    var rest = min(max(received, 0), largestTime)
    for place in text.indices.reversed() where rest > 0 {
      text[place] += UInt8(rest % 10)
      rest /= 10
    }
    return text + value
  }

  /// The value in a text, which may come from a program that is not Carabiner.
  ///
  /// - Parameter now: The time of Redis.
  /// - Returns: Nil if the text is malformed: no time, a time in the future, or no JSON.
  static func parse(_ text: ArraySlice<UInt8>, now: Int64) -> (value: ArraySlice<UInt8>, received: Int64)? {
    guard text.count > digits else { return nil }
    var received: Int64 = 0
    for byte in text.prefix(digits) {
      guard (0x30...0x39).contains(byte) else { return nil }
      received = received * 10 + Int64(byte - 0x30)
    }
    let value = text.dropFirst(digits)
    guard received <= now + tolerance, (try? JSONTape(scanning: value.span)) != nil else { return nil }
    return (value, received)
  }
}
