public import CarabinerWire

/// The fields of an object that a document selects. Generated types conform to it.
///
/// It is `Codable` by the same two functions that read and write it.
public protocol SelectionSet: GraphQLValue, ResponseValue, Codable {
  /// Reads the selected members of an object.
  ///
  /// - Throws: An error of the decoder if a member is missing or has the wrong type.
  init(reading object: ObjectReader) throws

  /// Writes the selected members of the object.
  func write(to object: inout ObjectWriter)
}

extension SelectionSet {
  public init(from decoder: any Decoder) throws { try self.init(reading: ObjectReader(decoder)) }

  public static func value(reading reader: ValueReader) throws -> Self { try Self(reading: ObjectReader(reader.decoder)) }

  public func encode(to encoder: any Encoder) throws {
    var writer = ObjectWriter()
    write(to: &writer)
    try EncodableJSON(.object(writer.object)).encode(to: encoder)
  }

  public static func json(of value: Self) -> JSONValue? {
    var writer = ObjectWriter()
    value.write(to: &writer)
    return .object(writer.object)
  }
}

/// The named fragments of a selection set. Generated types conform to it.
public protocol FragmentContainer: SelectionSet {}
