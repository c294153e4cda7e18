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
    try EncodableJSON(.object(Self.members(of: self))).encode(to: encoder)
  }

  public static func json(of value: Self) -> JSONValue? { .object(members(of: value)) }

  private static func members(of value: Self) -> JSONObject {
    var writer = ObjectWriter()
    value.write(to: &writer)
    return writer.object
  }

  // If the compiler wrote these two for each generated type, a release build of generated code would take twice as long.

  /// Whether both write the same members with the same values, whatever their order.
  ///
  /// It compares JSON: custom scalars are equal if their texts are. Both objects are written, so its cost grows with their size.
  public static func == (one: Self, other: Self) -> Bool { members(of: one) == members(of: other) }

  public func hash(into hasher: inout Hasher) { hasher.combine(Self.members(of: self)) }
}

/// The named fragments of a selection set. Generated types conform to it.
public protocol FragmentContainer: SelectionSet {}
