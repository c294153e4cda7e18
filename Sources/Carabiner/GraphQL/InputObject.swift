public import CarabinerWire

/// An input object. Generated types conform to it.
public protocol InputObject: GraphQLValue {
  /// Writes the fields that are given.
  func write(to object: inout ObjectWriter)
}

extension InputObject {
  public static func json(of value: Self) -> JSONValue? {
    var writer = ObjectWriter()
    value.write(to: &writer)
    return .object(writer.object)
  }
}
