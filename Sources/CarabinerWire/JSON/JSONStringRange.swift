/// The range of a string's content, without the quotes.
struct JSONStringRange {
  let range: Range<Int>
  let hasEscapes: Bool
}

extension JSONStringRange {
  /// The string with resolved escapes. The scanner has validated it.
  @inline(__always) func string(in bytes: Span<UInt8>) -> String {
    hasEscapes ? unescaped(in: bytes) : String(text: bytes.extracting(range))
  }

  private func unescaped(in bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var offset = range.lowerBound
    while offset < range.upperBound {
      guard bytes[offset] == UInt8(ascii: "\\") else {
        text.append(bytes[offset])
        offset += 1
        continue
      }
      let escape = bytes[offset + 1]
      offset += 2
      switch escape {
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0C)
      case UInt8(ascii: "n"): text.append(0x0A)
      case UInt8(ascii: "r"): text.append(0x0D)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "u"): text.append(contentsOf: scalar(at: &offset, in: bytes).utf8)
      default: text.append(escape)
      }
    }
    return String(text: text.span)
  }

  /// Reads the digits at `offset`, and the second half of a surrogate pair.
  private func scalar(at offset: inout Int, in bytes: Span<UInt8>) -> Unicode.Scalar {
    var value = codeUnit(at: offset, in: bytes)
    offset += 4
    if value & 0xFC00 == 0xD800 {
      value = 0x10000 + (value & 0x3FF) << 10 + codeUnit(at: offset + 2, in: bytes) & 0x3FF
      offset += 6
    }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  private func codeUnit(at offset: Int, in bytes: Span<UInt8>) -> UInt32 {
    var unit: UInt32 = 0
    for place in offset..<offset + 4 { unit = unit << 4 | UInt32(bytes[place].hexadecimalValue ?? 0) }
    return unit
  }
}

extension String {
  /// How many bytes a string holds in itself, without memory of its own.
  private static let inlineBytes = 15

  /// Copies bytes that are known to be well-formed UTF-8.
  @inline(__always) init(text bytes: Span<UInt8>) {
    self =
      bytes.count <= Self.inlineBytes
      ? unsafe String(unsafeUninitializedCapacity: bytes.count) { room in
        unsafe bytes.withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(room).copyMemory(from: $0) }
        return bytes.count
      } : String(longText: bytes)
  }

  private init(longText bytes: Span<UInt8>) {
    if bytes.isASCII {
      self.init(copying: unsafe UTF8Span(unchecked: bytes, isKnownASCII: true))
      return
    }
    do {
      self.init(copying: try UTF8Span(validating: bytes))
    } catch {
      self = bytes.indices.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar(bytes[$1])) }
    }
  }
}
