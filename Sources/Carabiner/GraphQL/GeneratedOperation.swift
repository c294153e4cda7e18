public import CarabinerWire

/// An operation whose name, document and hash are constants. Generated operations conform to it.
public protocol GeneratedOperation: GraphQLOperation, Hashable where Data: SelectionSet {
  /// The operation's name in the document.
  static var operationName: String { get }
  /// The text of the document, with the fragments that the operation uses.
  static var document: String { get }
  /// The SHA-256 of the document in lower-case hexadecimal digits.
  static var documentHash: String { get }

  /// Writes the variables that are given.
  func write(to variables: inout ObjectWriter)
}

extension GeneratedOperation {
  public var operationName: String? { Self.operationName }
  public var document: String { Self.document }

  public var variables: JSONObject {
    var writer = ObjectWriter()
    write(to: &writer)
    return writer.object
  }

  public func write(to variables: inout ObjectWriter) {}

  /// Reads the data without `Decodable`.
  public static func data(reading reader: ValueReader) throws -> Data { try Data.value(reading: reader) }
}
