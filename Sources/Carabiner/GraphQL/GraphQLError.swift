public import CarabinerWire

/// An entry of a response's `errors`.
public struct GraphQLError: DescribedError, Sendable, Hashable {
  /// The whole entry, as the server sent it.
  public let object: JSONObject

  /// A place in a document. Line and column are counted from 1.
  public struct Location: Sendable, Hashable {
    /// The line.
    public let line: Int
    /// The column.
    public let column: Int

    /// Creates a place.
    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// Creates an error from an entry.
  public init(_ object: JSONObject) { self.object = object }

  /// The message of the server.
  public var message: String? { object["message"]?.string }
  /// The path of the error in the response: names and list indices.
  public var path: [JSONValue]? { object["path"]?.array }
  /// The places in the document that the error refers to. Entries without line and column are omitted.
  public var locations: [Location]? {
    object["locations"]?.array?.compactMap { entry in
      guard let line = entry["line"]?.int, let column = entry["column"]?.int else { return nil }
      return Location(line: line, column: column)
    }
  }
  /// The additional information of the server.
  public var extensions: JSONObject? { object["extensions"]?.object }
  /// The machine-readable code that many servers put into the extensions.
  public var code: String? { extensions?["code"]?.string }

  public var description: String { message ?? JSONValue.object(object).description }
}
