internal import CarabinerWire

/// Encodes JSON values as CBOR (RFC 8949), each in the shortest form without loss.
enum CBOREncoder {
  /// A number that CBOR integers and floats cannot represent.
  struct TooLarge: Error, Hashable {
    let lexeme: String
  }

  static func encode(_ value: JSONValue) throws(TooLarge) -> [UInt8] {
    var bytes: [UInt8] = []
    try append(value, to: &bytes)
    return bytes
  }

  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) throws(TooLarge) {
    switch value {
    case .null: bytes.append(0xF6)
    case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
    case .number(let number): try append(number, to: &bytes)
    case .string(let text): append(text, to: &bytes)
    case .array(let elements):
      appendHead(4, UInt64(elements.count), to: &bytes)
      for element in elements { try append(element, to: &bytes) }
    case .object(let object):
      appendHead(5, UInt64(object.count), to: &bytes)
      for (key, value) in object {
        append(key, to: &bytes)
        try append(value, to: &bytes)
      }
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    appendHead(3, UInt64(text.utf8.count), to: &bytes)
    bytes.append(contentsOf: text.utf8)
  }

  private static func append(_ number: JSONNumber, to bytes: inout [UInt8]) throws(TooLarge) {
    let lexeme = number.lexeme
    if lexeme == "-0" {
      appendFloat(-0.0, to: &bytes)
    } else if let value = UInt64(lexeme) {
      appendHead(0, value, to: &bytes)
    } else if lexeme.hasPrefix("-"), let magnitude = UInt64(lexeme.dropFirst()) {
      // The argument n encodes the integer -1 - n.
      appendHead(1, magnitude - 1, to: &bytes)
    } else if !lexeme.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      number.double.isFinite
    {
      appendFloat(number.double, to: &bytes)
    } else {
      throw TooLarge(lexeme: lexeme)
    }
  }

  private static func appendFloat(_ value: Double, to bytes: inout [UInt8]) {
    if Double(Float16(value)) == value {
      bytes.append(0xF9)
      appendBigEndian(UInt64(Float16(value).bitPattern), count: 2, to: &bytes)
    } else if Double(Float(value)) == value {
      bytes.append(0xFA)
      appendBigEndian(UInt64(Float(value).bitPattern), count: 4, to: &bytes)
    } else {
      bytes.append(0xFB)
      appendBigEndian(value.bitPattern, count: 8, to: &bytes)
    }
  }

  private static func appendHead(_ major: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
    let kind = major << 5
    switch argument {
    case ..<24: bytes.append(kind | UInt8(argument))
    case ...0xFF:
      bytes.append(kind | 24)
      appendBigEndian(argument, count: 1, to: &bytes)
    case ...0xFFFF:
      bytes.append(kind | 25)
      appendBigEndian(argument, count: 2, to: &bytes)
    case ...0xFFFF_FFFF:
      bytes.append(kind | 26)
      appendBigEndian(argument, count: 4, to: &bytes)
    default:
      bytes.append(kind | 27)
      appendBigEndian(argument, count: 8, to: &bytes)
    }
  }

  private static func appendBigEndian(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
    for position in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(position)))) }
  }
}
