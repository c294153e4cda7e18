internal import CarabinerWire

/// The fields of a message in HTTP/2, as they are written in frames (RFC 7541, 6).
enum FieldBlock {
  /// Replaces the values that the block contains as text. Values that refer to a table are not replaced.
  ///
  /// - Parameter change: Returns another value; nil to keep it. It is called only for values that may have bytes above 0x7F.
  /// - Returns: The changed block; nil if nothing is changed, or if the block is malformed.
  static func replacingValues(in block: Span<UInt8>, _ change: (Span<UInt8>) -> [UInt8]?) -> [UInt8]? {
    var changed: [UInt8] = []
    var (position, copied) = (0, 0)
    while position < block.count {
      let first = block[position]
      // One byte that refers to a field of a table. A hostile head has thousands of them.
      if first & 0x80 != 0, first != 0xFF {
        position += 1
        continue
      }
      let isLiteral = first & 0x80 == 0 && first & 0xE0 != 0x20
      let prefix = first & 0x80 != 0 ? 7 : first & 0x40 != 0 ? 6 : first & 0x20 != 0 ? 5 : 4
      guard let index = integer(block, &position, prefix: prefix) else { return nil }
      guard isLiteral else { continue }
      if index == 0 { guard text(block, &position) != nil else { return nil } }
      let start = position
      guard let value = text(block, &position) else { return nil }
      guard let bytes = bytes(of: value, in: block), let other = change(bytes.span) else { continue }
      for index in copied..<start { changed.append(block[index]) }
      append(other, to: &changed)
      copied = position
    }
    guard copied > 0 else { return nil }
    for index in copied..<block.count { changed.append(block[index]) }
    return changed
  }

  private struct Text {
    let place: Range<Int>
    let isCoded: Bool
  }

  /// The bytes of a text; nil if all of them are ASCII, or if it is malformed.
  private static func bytes(of text: Text, in block: Span<UInt8>) -> [UInt8]? {
    let written = block.extracting(text.place)
    if text.isCoded {
      // The codes of bytes above 0x7F begin with 15 set bits at least, which fill a byte.
      return written.indices.contains { written[$0] == 0xFF } ? FieldCode.decoded(written) : nil
    }
    return written.isASCII ? nil : Array(written)
  }

  private static func text(_ block: Span<UInt8>, _ position: inout Int) -> Text? {
    guard position < block.count else { return nil }
    let isCoded = block[position] & 0x80 != 0
    guard let count = integer(block, &position, prefix: 7), count <= block.count - position else { return nil }
    defer { position += count }
    return Text(place: position..<position + count, isCoded: isCoded)
  }

  /// Reads a number (RFC 7541, 5.1); nil if it is malformed or too large.
  private static func integer(_ block: Span<UInt8>, _ position: inout Int, prefix: Int) -> Int? {
    let mask = 1 << prefix - 1
    var value = Int(block[position]) & mask
    position += 1
    guard value == mask else { return value }
    var shift = 0
    while position < block.count, shift <= 21 {
      let byte = Int(block[position])
      position += 1
      value += (byte & 0x7F) << shift
      guard byte & 0x80 != 0 else { return value }
      shift += 7
    }
    return nil
  }

  private static func append(_ text: [UInt8], to block: inout [UInt8]) {
    let mask = 0x7F
    if text.count < mask {
      block.append(UInt8(text.count))
    } else {
      block.append(UInt8(mask))
      var rest = text.count - mask
      while rest > 0x7F {
        block.append(UInt8(rest & 0x7F | 0x80))
        rest >>= 7
      }
      block.append(UInt8(rest))
    }
    block += text
  }
}

extension [UInt8] {
  init(_ bytes: Span<UInt8>) {
    self = bytes.indices.map { bytes[$0] }
  }
}
