/// A type that is decoded from a scalar value.
package protocol TapeScalar: Decodable {
  /// Reads a value.
  ///
  /// - Throws: `DecodingError` if the value is of another kind, or out of range.
  init(_ text: TapeText, _ entry: Int32) throws
}

extension TapeScalar {
  @inline(__always) package init(reading decoder: JSONTapeDecoder) throws { try self.init(decoder.text, decoder.entry) }
}

extension TapeText {
  /// The digits of a number.
  func digits(_ type: any Any.Type, _ entry: Int32) throws -> String {
    guard isNumber(entry) else { throw mismatch(type, entry) }
    return text(of: entry)
  }

  /// Whether the value is a number. Other scalars begin with a letter.
  fileprivate func isNumber(_ entry: Int32) -> Bool { isScalar(entry) && firstByte(entry) <= UInt8(ascii: "9") }

  fileprivate func isScalar(_ entry: Int32) -> Bool { if case .scalar = entries[Int(entry)].kind { true } else { false } }

  fileprivate func unrepresentable(_ digits: String, _ entry: Int32) -> DecodingError {
    corrupted(entry, "Number \(digits) is not representable in Swift.")
  }
}

extension String: TapeScalar {
  /// Also accepts a number as its digits, if that is enabled.
  package init(_ text: TapeText, _ entry: Int32) throws {
    switch text.entries[Int(entry)].kind {
    case .string, .escapedString: self = text.text(of: entry)
    case .scalar where text.readsNumbersAsStrings: self = try text.digits(String.self, entry)
    case .null, .scalar, .object, .array: throw text.mismatch(String.self, entry)
    }
  }
}

extension Bool: TapeScalar {
  package init(_ text: TapeText, _ entry: Int32) throws {
    guard text.isScalar(entry), text.firstByte(entry) >= UInt8(ascii: "f") else {
      throw text.mismatch(Bool.self, entry)
    }
    self = text.firstByte(entry) == UInt8(ascii: "t")
  }
}

extension TapeScalar where Self: FixedWidthInteger {
  /// Also accepts `1.0` and `1e3`.
  package init(_ text: TapeText, _ entry: Int32) throws {
    if text.isNumber(entry), let number = text.decimal(entry), let value = number.int.flatMap(Self.init(exactly:)) {
      self = value
      return
    }
    let digits = try text.digits(Self.self, entry)
    guard let value = Self(digits) ?? JSONNumber(checked: digits).int.flatMap(Self.init(exactly:)) else {
      throw text.unrepresentable(digits, entry)
    }
    self = value
  }
}

extension TapeScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
  /// A number that is too large is an error, not infinity.
  package init(_ text: TapeText, _ entry: Int32) throws {
    let digits = try text.digits(Self.self, entry)
    guard let value = Self(digits), value.isFinite else { throw text.unrepresentable(digits, entry) }
    self = value
  }
}

extension Double: TapeScalar {
  package init(_ text: TapeText, _ entry: Int32) throws {
    if text.isNumber(entry), let value = text.decimal(entry)?.double {
      self = value
      return
    }
    let digits = try text.digits(Self.self, entry)
    guard let value = Self(digits), value.isFinite else { throw text.unrepresentable(digits, entry) }
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
