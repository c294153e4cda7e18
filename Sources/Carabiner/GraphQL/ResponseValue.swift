public import CarabinerWire

/// A value of a response that generated code reads: a scalar, an enumeration, an object or a list.
///
/// Conform the `Decodable` type of a custom scalar to it. It needs no code for that.
public protocol ResponseValue {
  /// Reads the value.
  ///
  /// It is static, so that its name cannot clash with a field of an object.
  ///
  /// - Throws: `DecodingError` if the value in the response has another type.
  static func value(reading reader: ValueReader) throws -> Self
}

/// The place of a value in the text of a response.
public struct ValueReader {
  let decoder: JSONTapeDecoder

  init(_ decoder: JSONTapeDecoder) { self.decoder = decoder }

  /// Decodes the value.
  ///
  /// - Throws: `DecodingError` if it does not fit the type.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
}

extension ResponseValue where Self: Decodable {
  public static func value(reading reader: ValueReader) throws -> Self { try reader.decode(Self.self) }
}

extension String: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> String { try String(reading: reader.decoder) }
}

extension Bool: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> Bool { try Bool(reading: reader.decoder) }
}

extension Int: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> Int { try Int(reading: reader.decoder) }
}

extension Double: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> Double { try Double(reading: reader.decoder) }
}

extension JSONValue: ResponseValue {}

extension GraphQLEnum: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> GraphQLEnum<Value> {
    GraphQLEnum(rawValue: try String(reading: reader.decoder))
  }
}

extension Optional: ResponseValue where Wrapped: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> Wrapped? {
    reader.decoder.decodeNil() ? nil : try Wrapped.value(reading: reader)
  }
}

extension Array: ResponseValue where Element: ResponseValue {
  public static func value(reading reader: ValueReader) throws -> [Element] {
    // Most lists of scalars. The type of their memory is not looked up.
    if Element.self == String.self { return unsafe unsafeBitCast(try reader.decoder.strings(), to: [Element].self) }
    return try Array(elementsOf: reader.decoder) { try Element.value(reading: ValueReader($0)) }
  }
}
