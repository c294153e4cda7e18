/// Data cannot be made from a mock.
public struct MockError: DescribedError, Sendable {
  /// The fault and what to do.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension SelectionSet {
  /// Reads the data of a selection from a mock. For tests.
  ///
  /// A field that is not set has a value that depends only on its name and type. A string is the name of the field, a number is 1,
  /// and a Boolean is true. An enumeration has its first value, and a list has one element. The fields of an object have such
  /// values too. A field of an interface or a union has an object of the first type in the schema. For a custom scalar, a URL, a
  /// point in time, a day, a UUID, a number and other JSON values are tried in this order.
  ///
  /// - Parameters:
  ///   - mock: An object of a type that the selection is on, as `Mock<Query>` for the data of a query.
  ///   - withConditional: Whether fields and fragments with `@include`, `@skip` or `@defer` are there. It is the same for all: a mock does
  ///     not know variables.
  /// - Throws: ``MockError`` if a value does not fit the schema, the mock lacks a selected field, or there is no value for a custom scalar.
  public static func from(_ mock: any AnyMock, withConditional: Bool = true) throws -> Self {
    let values = MockValues(includesConditional: withConditional)
    do {
      guard let object = try values.json(of: mock) else { throw MockError("\(type(of: mock)) is not a Mock; give a Mock") }
      return try value(reading: ValueReader(values.decoder(of: object)))
    } catch let error as DecodingError {
      throw MockError("the value of \(values.lastField) does not fit \(Self.self); set another one. \(error)")
    }
  }
}
