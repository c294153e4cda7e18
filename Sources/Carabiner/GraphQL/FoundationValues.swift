internal import CarabinerWire
internal import FoundationEssentials

extension JSONTape {
  /// Decodes GraphQL data from a text.
  ///
  /// A server may send an `ID` as an integer, so a number is also accepted as a string.
  ///
  /// - Throws: ``JSONError``, `DecodingError`.
  static func graphQLData<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSONTapeDecoder(reading: bytes).decode(type)
  }

  /// A decoder of the GraphQL data of an entry.
  func graphQLDecoder(of bytes: [UInt8], at place: Int) -> JSONTapeDecoder {
    decoder(of: bytes, at: place, readsNumbersAsStrings: true, foreign: FoundationValues.make)
  }
}

extension JSONTapeDecoder {
  /// A decoder of GraphQL data.
  ///
  /// - Throws: ``JSONError`` if the text is not JSON.
  init(reading bytes: [UInt8]) throws { self = try JSONTape(scanning: bytes.span).graphQLDecoder(of: bytes, at: 0) }
}

/// The Foundation types that Foundation's JSON decoder handles specially.
enum FoundationValues {
  /// Decodes `Data` from base 64, `URL` from a string and `Decimal` from a number; nil for any other type.
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
