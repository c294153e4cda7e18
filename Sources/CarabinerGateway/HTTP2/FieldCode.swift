/// The Huffman code of header fields in HTTP/2 (RFC 7541, 5.2 and appendix B).
enum FieldCode {
  /// The number of bits of the code of each byte, and of the end. The lengths define the code, because it is canonical.
  private static let lengths: [UInt8] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28,
    28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23,
    24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22,
    23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
    27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27,
    26,
    30,
  ]

  /// The codes of one length.
  private struct Group {
    /// The first code.
    var first: UInt32 = 0
    /// The symbols, in the order of their codes.
    var symbols: [Int] = []
  }

  private static let end = 256

  /// The codes by their length.
  private static let groups: [Group] = {
    var groups = [Group](repeating: Group(), count: 31)
    for (symbol, length) in lengths.enumerated() { groups[Int(length)].symbols.append(symbol) }
    for length in groups.indices.dropFirst() {
      groups[length].first = (groups[length - 1].first + UInt32(groups[length - 1].symbols.count)) << 1
    }
    return groups
  }()

  /// Decodes a text, bit by bit; nil if it is malformed.
  static func decoded(_ bytes: Span<UInt8>) -> [UInt8]? {
    var text: [UInt8] = []
    var (code, length): (UInt32, Int) = (0, 0)
    for index in bytes.indices {
      for shift in (0..<8).reversed() {
        code = code << 1 | UInt32(bytes[index] >> shift & 1)
        length += 1
        guard length < groups.count else { return nil }
        let group = groups[length]
        guard code >= group.first, code - group.first < UInt32(group.symbols.count) else { continue }
        let symbol = group.symbols[Int(code - group.first)]
        guard symbol != end else { return nil }
        text.append(UInt8(symbol))
        (code, length) = (0, 0)
      }
    }
    // The padding is the beginning of the code of the end, whose bits are all set.
    return length < 8 && code == (1 << length) - 1 ? text : nil
  }
}
