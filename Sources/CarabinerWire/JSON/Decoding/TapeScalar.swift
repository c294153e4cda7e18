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
    guard isNumber else { throw text.mismatch(type, entry) }
    return text.text(of: entry)
  }

  /// Whether the value is a number. Other scalars begin with a letter.
  fileprivate var isNumber: Bool { isScalar && text.firstByte(entry) <= UInt8(ascii: "9") }

  fileprivate var isScalar: Bool { if case .scalar = text.entries[Int(entry)].kind { true } else { false } }

  fileprivate func unrepresentable(_ digits: String) -> DecodingError {
    corrupted("Number \(digits) is not representable in Swift.")
  }
}

extension String: TapeScalar {
  /// Also accepts a number as its digits, if that is enabled.
  package init(reading decoder: JSONTapeDecoder) throws {
    switch decoder.text.entries[Int(decoder.entry)].kind {
    case .string, .escapedString: self = decoder.text.text(of: decoder.entry)
    case .scalar where decoder.text.readsNumbersAsStrings: self = try decoder.digits(String.self)
    case .null, .scalar, .object, .array: throw decoder.text.mismatch(String.self, decoder.entry)
    }
  }
}

extension Bool: TapeScalar {
  package init(reading decoder: JSONTapeDecoder) throws {
    guard decoder.isScalar, decoder.text.firstByte(decoder.entry) >= UInt8(ascii: "f") else {
      throw decoder.text.mismatch(Bool.self, decoder.entry)
    }
    self = decoder.text.firstByte(decoder.entry) == UInt8(ascii: "t")
  }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// Also accepts `1.0` and `1e3`.
  package init(reading decoder: JSONTapeDecoder) throws {
    if decoder.isNumber, let number = decoder.text.decimal(decoder.entry), let value = number.int.flatMap(Self.init(exactly:)) {
      self = value
      return
    }
    let digits = try decoder.digits(Self.self)
    guard let value = Self(digits) ?? JSONNumber(checked: digits).int.flatMap(Self.init(exactly:)) else {
      throw decoder.unrepresentable(digits)
    }
    self = value
  }
}

extension TapeScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
  /// A number that is too large is an error, not infinity.
  package init(reading decoder: JSONTapeDecoder) throws {
    let digits = try decoder.digits(Self.self)
    guard let value = Self(digits), value.isFinite else { throw decoder.unrepresentable(digits) }
    self = value
  }
}

extension Double: TapeScalar {
  package init(reading decoder: JSONTapeDecoder) throws {
    if decoder.isNumber, let value = decoder.text.decimal(decoder.entry)?.double {
      self = value
      return
    }
    let digits = try decoder.digits(Self.self)
    guard let value = Self(digits), value.isFinite else { throw decoder.unrepresentable(digits) }
    self = value
  }
}

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
