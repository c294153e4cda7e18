/// A type that is decoded from a scalar value.
package protocol TapeScalar: Decodable {
  /// Reads a value.
  ///
  /// - Throws: `DecodingError` if the value is of another kind, or out of range.
  init(reading decoder: JSONTapeDecoder) throws
}

extension JSONTapeDecoder {
  /// The digits of a number.
  func digits(_ type: any Any.Type) throws -> String {
    guard case .scalar = text.entries[Int(entry)].kind, let first = raw.first, first <= UInt8(ascii: "9") else {
      throw text.mismatch(type, entry)
    }
    return text.text(of: entry)
  }
}

extension String: TapeScalar {
  /// Also accepts a number as its digits, if that is enabled.
  package init(reading decoder: JSONTapeDecoder) throws {
    if case .scalar = decoder.text.entries[Int(decoder.entry)].kind, decoder.text.readsNumbersAsStrings {
      self = try decoder.digits(String.self)
    } else {
      self = try decoder.string()
    }
  }
}

extension Bool: TapeScalar {
  package init(reading decoder: JSONTapeDecoder) throws {
    guard case .scalar = decoder.text.entries[Int(decoder.entry)].kind, let first = decoder.raw.first, first >= UInt8(ascii: "f")
    else { throw decoder.text.mismatch(Bool.self, decoder.entry) }
    self = first == UInt8(ascii: "t")
  }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// Also accepts `1.0` and `1e3`.
  package init(reading decoder: JSONTapeDecoder) throws {
    let digits = try decoder.digits(Self.self)
    guard let value = Self(digits) ?? JSONNumber(checked: digits).int.flatMap(Self.init(exactly:)) else {
      throw decoder.corrupted("Number \(digits) is not representable in Swift.")
    }
    self = value
  }
}

extension TapeScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
  /// A number that is too large is an error, not infinity.
  package init(reading decoder: JSONTapeDecoder) throws {
    let digits = try decoder.digits(Self.self)
    guard let value = Self(digits), value.isFinite else {
      throw decoder.corrupted("Number \(digits) is not representable in Swift.")
    }
    self = value
  }
}

extension Double: TapeScalar {}
extension Float: TapeScalar {}
extension Int: TapeScalar {}
extension Int8: TapeScalar {}
extension Int16: TapeScalar {}
extension Int32: TapeScalar {}
extension Int64: TapeScalar {}
extension UInt: TapeScalar {}
extension UInt8: TapeScalar {}
extension UInt16: TapeScalar {}
extension UInt32: TapeScalar {}
extension UInt64: TapeScalar {}
