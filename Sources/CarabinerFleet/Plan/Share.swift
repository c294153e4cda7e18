/// A share of the nodes of a fleet, in hundredths of a percent.
package struct Share: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// All nodes.
  package static let all = Share(unchecked: 10_000)

  private let hundredths: Int

  private init(unchecked hundredths: Int) { self.hundredths = hundredths }

  /// A share of 1 to 10,000 hundredths of a percent; nil beyond.
  package init?(hundredths: Int) {
    guard (1...10_000).contains(hundredths) else { return nil }
    self.init(unchecked: hundredths)
  }

  /// A share of 1 to 100 percent; nil beyond.
  package init?(percent: Int) {
    guard (1...100).contains(percent) else { return nil }
    self.init(unchecked: percent * 100)
  }

  /// Reads a share such as `10%` or `0.25%`; nil if the text is none.
  package init?(_ text: String) {
    guard text.utf8.last == UInt8(ascii: "%") else { return nil }
    let parts = text.utf8.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let areDigits = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    guard (1...2).contains(parts.count), areDigits, parts[0].count <= 3, let percent = Int(String(Substring(parts[0]))) else {
      return nil
    }
    var rest = 0
    if parts.count == 2 {
      guard parts[1].count <= 2, let digits = Int(String(Substring(parts[1]))) else { return nil }
      rest = parts[1].count == 1 ? digits * 10 : digits
    }
    self.init(hundredths: percent * 100 + rest)
  }

  /// The share of a number of nodes: rounded up, and at least 1 unless there are none.
  package func nodes(of count: Int) -> Int { (count * hundredths + 9999) / 10_000 }

  package var description: String {
    let (percent, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(percent)%" }
    return rest % 10 == 0 ? "\(percent).\(rest / 10)%" : "\(percent).\(rest < 10 ? "0" : "")\(rest)%"
  }

  package static func < (one: Self, other: Self) -> Bool { one.hundredths < other.hundredths }
}
