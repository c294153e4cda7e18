/// The name of a node, as in the names of its keys: 1 to 128 visible ASCII characters without a slash.
package struct NodeName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package static let maximumBytes = 128
  /// The rule for names, for messages.
  package static let rule = "1 to \(maximumBytes) visible ASCII characters without a slash"

  /// A name for a node whose machine has none.
  package static let unnamed = NodeName(unchecked: "node")

  private let text: String

  private init(unchecked text: String) { self.text = text }

  /// Nil if the text does not follow the rule.
  package init?(_ text: some StringProtocol) {
    let bytes = text.utf8
    guard (1...Self.maximumBytes).contains(bytes.count),
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
    else { return nil }
    self.text = String(text)
  }

  package var description: String { text }

  package static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}
