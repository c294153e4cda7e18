/// One of the slots into which a cluster divides its keys.
package struct HashSlot: Sendable, Hashable {
  /// The number of slots, which the protocol of a cluster fixes.
  package static let count = 16_384

  /// The number, below ``count``.
  package let number: Int

  /// The slot with a number; nil if there is none.
  package init?(_ number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  /// The slot of a key: that of the part between its first braces, or of the whole key if there is none.
  package init(key: String) {
    let bytes = key.utf8
    var hashed = bytes[...]
    if let open = bytes.firstIndex(of: 0x7B) {
      let rest = bytes[bytes.index(after: open)...]
      if let close = rest.firstIndex(of: 0x7D), close > rest.startIndex { hashed = rest[..<close] }
    }
    number = Int(Self.checksum(hashed)) % Self.count
  }

  /// CRC-16/XMODEM.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0) { $0 << 8 ^ table[Int(UInt8(truncatingIfNeeded: $0 >> 8) ^ $1)] }
  }

  private static let table: [UInt16] = (0..<256).map { byte in
    (0..<8).reduce(UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}
