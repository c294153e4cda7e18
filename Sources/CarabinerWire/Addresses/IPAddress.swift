/// An IPv4 or IPv6 address. An IPv4 address in the form of an IPv6 one (`::ffff:192.0.2.1`) is equal to it.
package struct IPAddress: Sendable, Hashable {
  /// The 128 bits of the IPv6 form.
  package let high: UInt64
  package let low: UInt64

  private static let mapped: UInt64 = 0xFFFF_0000_0000

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package init(v4: UInt32) { self.init(high: 0, low: Self.mapped | UInt64(v4)) }

  /// Whether this is an IPv4 address.
  package var isV4: Bool { high == 0 && low & ~0xFFFF_FFFF == Self.mapped }

  /// Reads an address as in a URL, but without brackets, port and zone; nil if the text is another one.
  package init?(_ text: Substring) {
    guard text.utf8.contains(UInt8(ascii: ":")) else {
      guard let v4 = Self.v4(text) else { return nil }
      self.init(v4: v4)
      return
    }
    // The longest text has six groups and an IPv4 address.
    guard text.utf8.count <= 45 else { return nil }
    var halves = [text]
    if let gap = text.firstRange(of: "::") { halves = [text[..<gap.lowerBound], text[gap.upperBound...]] }
    guard let front = Self.groups(halves[0], takesV4: halves.count == 1) else { return nil }
    var groups = front
    if halves.count == 2 {
      guard let back = Self.groups(halves[1], takesV4: true), front.count + back.count < 8 else { return nil }
      groups += Array(repeating: 0, count: 8 - front.count - back.count) + back
    }
    guard groups.count == 8 else { return nil }
    self.init(
      high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }, low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) })
  }

  /// The 16-bit groups of a part of an IPv6 address; nil if it is malformed.
  private static func groups(_ text: Substring, takesV4: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if takesV4, index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
        guard let v4 = v4(part) else { return nil }
        groups += [UInt16(v4 >> 16), UInt16(v4 & 0xFFFF)]
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(\.isHexDigit), let group = UInt16(part, radix: 16) else {
          return nil
        }
        groups.append(group)
      }
    }
    return groups
  }

  /// Four decimal numbers. Leading zeros are refused, because some programs read them as octal numbers.
  private static func v4(_ text: Substring) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var address: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let byte = UInt8(part),
        part.utf8.count == 1 || part.utf8.first != UInt8(ascii: "0")
      else { return nil }
      address = address << 8 | UInt32(byte)
    }
    return address
  }
}

extension IPAddress: CustomStringConvertible {
  /// The address in its usual form (RFC 5952).
  package var description: String {
    if isV4 { return [24, 16, 8, 0].map { String(low >> $0 & 0xFF) }.joined(separator: ".") }
    let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) } }
    let gap = Self.longestGap(groups)
    func text(_ range: Range<Int>) -> String { groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
    guard let gap else { return text(0..<8) }
    return "\(text(0..<gap.lowerBound))::\(text(gap.upperBound..<8))"
  }

  /// The first of the longest runs of two or more zeros.
  private static func longestGap(_ groups: [UInt16]) -> Range<Int>? {
    var longest: Range<Int>?
    var start: Int?
    for (index, group) in (groups + [1]).enumerated() {
      if group == 0 {
        start = start ?? index
      } else if let first = start {
        if index - first > max(1, longest?.count ?? 0) { longest = first..<index }
        start = nil
      }
    }
    return longest
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
  }
}
