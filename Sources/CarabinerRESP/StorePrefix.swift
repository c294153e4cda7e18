/// The name of a store among those of the same servers.
package enum StorePrefix {
  package static let maximumBytes = 64

  /// Whether a text has only letters, digits and hyphens, and not too many.
  package static func isValid(_ text: String) -> Bool {
    (1...maximumBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0 == 0x2D || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
  }
}
