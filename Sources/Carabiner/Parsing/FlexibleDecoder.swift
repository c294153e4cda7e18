public import FoundationEssentials

/// Decodes values from bytes in one format.
///
/// A decoder limits the depth of its input itself, as those of Foundation do for JSON.
public protocol FlexibleDecoder {
  /// The type of the input.
  associatedtype Input = Data

  /// Decodes a value.
  ///
  /// - Throws: An error of the decoder if the data is malformed or does not fit the type.
  func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T
}

extension JSONDecoder: FlexibleDecoder {}
extension PropertyListDecoder: FlexibleDecoder {}
