internal import CarabinerWire
internal import FoundationEssentials

extension JSONTape {
  /// Decodes GraphQL data from a text.
  ///
  /// A server may send an `ID` as an integer, so a number is taken for a string too.
  ///
  /// - Throws: ``JSONError``, `DecodingError`.
  static func graphQLData<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try decode(type, from: bytes, readsNumbersAsStrings: true, foreign: FoundationValues.make)
  }

  /// Decodes GraphQL data at a place of a text.
  func graphQLData<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8], at place: Int) throws -> Value {
    try decode(type, from: bytes, at: place, readsNumbersAsStrings: true, foreign: FoundationValues.make)
  }
}

/// The types of Foundation that its own JSON decoder reads otherwise than what they say to any decoder.
enum FoundationValues {
  /// A value of one of these types: `Data` of base 64, `URL` of a string, `Decimal` of a number; nil for any other type.
  ///
  /// - Throws: `DecodingError`.
  static func make(_ type: any Decodable.Type, _ decoder: JSONTapeDecoder) throws -> Any? {
    if type == Data.self {
      guard let data = Data(base64Encoded: try decoder.string()) else {
        throw decoder.corrupted("Encountered Data is not valid Base64.")
      }
      return data
    }
    if type == URL.self {
      guard let url = URL(string: try decoder.string()) else { throw decoder.corrupted("Invalid URL string.") }
      return url
    }
    if type == Decimal.self {
      let digits = try decoder.number(Decimal.self).lexeme
      guard let decimal = Decimal(string: digits) else {
        throw decoder.corrupted("Number \(digits) is not representable in Swift.")
      }
      return decimal
    }
    return nil
  }
}
