/// The options of a line of a trust file: `namespaces`, `valid-after` and `valid-before`, with commas between them.
struct TrustOptions: Sendable, Hashable {
  /// nil for all namespaces.
  private(set) var namespaces: NamePatterns?
  private(set) var validAfter: ReleaseTime?
  private(set) var validBefore: ReleaseTime?

  /// No options.
  init() {}

  /// Reads options.
  ///
  /// - Throws: A sentence for the operator.
  init(_ text: ArraySlice<UInt8>) throws(TrustFault) {
    var rest = text
    repeat {
      let name = String(decoding: rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }, as: UTF8.self)
      rest = rest.dropFirst(name.utf8.count)
      let value = try Self.value(&rest)
      try set(name.lowercased(), value)
      guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { throw TrustFault("an option has text after its value") }
      rest = rest.dropFirst()
    } while !rest.isEmpty
    if let validAfter, let validBefore, validBefore <= validAfter {
      throw TrustFault("valid-before is not later than valid-after")
    }
  }

  private mutating func set(_ name: String, _ value: ArraySlice<UInt8>?) throws(TrustFault) {
    switch name {
    case "namespaces":
      guard namespaces == nil, let value else { throw Self.misused(name) }
      namespaces = NamePatterns(value)
    case "valid-after":
      guard validAfter == nil, let value else { throw Self.misused(name) }
      validAfter = try Self.time(value)
    case "valid-before":
      guard validBefore == nil, let value else { throw Self.misused(name) }
      validBefore = try Self.time(value)
    case "cert-authority":
      throw TrustFault("certificates are not supported; name each key on a line of its own, without cert-authority")
    default:
      throw TrustFault(
        "the option \(name.prefix(64).debugDescription) is not supported; use namespaces, valid-after and valid-before")
    }
  }

  private static func misused(_ name: String) -> TrustFault {
    TrustFault("the option \(name) has no value in double quotes, or is there twice")
  }

  /// The text in quotes after `=`; nil if the option has none.
  private static func value(_ rest: inout ArraySlice<UInt8>) throws(TrustFault) -> ArraySlice<UInt8>? {
    guard rest.first == UInt8(ascii: "=") else { return nil }
    let quote = UInt8(ascii: "\"")
    let quoted = rest.dropFirst()
    guard quoted.first == quote, let end = quoted.dropFirst().firstIndex(of: quote) else {
      throw TrustFault("the value of an option is not in double quotes")
    }
    let value = quoted[..<end].dropFirst()
    guard !value.contains(UInt8(ascii: "\\")) else { throw TrustFault("the value of an option has a backslash") }
    rest = rest[(end + 1)...]
    return value
  }

  /// `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, each with Z. OpenSSH reads a time without Z in the zone of the machine.
  private static func time(_ text: ArraySlice<UInt8>) throws(TrustFault) -> ReleaseTime {
    let digits = text.dropLast().compactMap(\.decimalDigit)
    guard text.last == UInt8(ascii: "Z"), digits.count == text.count - 1, [8, 12, 14].contains(digits.count) else {
      throw TrustFault("a time is not YYYYMMDDZ, YYYYMMDDHHMMZ or YYYYMMDDHHMMSSZ; Z for UTC is required")
    }
    func number(_ range: Range<Int>) -> Int { digits[range.clamped(to: digits.indices)].reduce(0) { $0 * 10 + $1 } }
    guard
      let time = ReleaseTime(
        year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10), minute: number(10..<12),
        second: number(12..<14)), time.seconds > 0
    else { throw TrustFault("a date or time does not exist, or is before 1970-01-01T00:00:01Z") }
    return time
  }
}
