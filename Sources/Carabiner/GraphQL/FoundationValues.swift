internal import CarabinerWire
internal import FoundationEssentials

/// The types of Foundation that its own JSON decoder reads otherwise than what they say to any decoder.
enum FoundationValues {
  /// A value of one of these types: `Data` of base 64, `URL` of a string, `Decimal` of a number; nil for any other type.
  ///
  /// - Throws: `DecodingError`.
  static func make(_ type: any Decodable.Type, _ decoder: JSONTapeDecoder) throws -> Any? {
    if type == Data.self {
      guard let data = Data(base64Encoded: try decoder.decode(String.self)) else {
        throw decoder.corrupted("Encountered Data is not valid Base64.")
      }
      return data
    }
    if type == URL.self {
      guard let url = URL(string: try decoder.decode(String.self)) else { throw decoder.corrupted("Invalid URL string.") }
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
