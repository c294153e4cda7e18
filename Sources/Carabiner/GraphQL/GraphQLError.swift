public import CarabinerWire

/// An entry of a response's `errors`.
public struct GraphQLError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The whole entry, as the server sent it.
  public let object: JSONObject

  /// A place in a document, both counted from 1.
  public struct Location: Sendable, Hashable {
    /// The line.
    public let line: Int
    /// The column.
    public let column: Int

    /// A place in a document.
    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// An error made of this entry.
  public init(_ object: JSONObject) { self.object = object }

  /// The message of the server.
  public var message: String? { object["message"]?.string }
  /// Where in the response the error belongs: names and list indices.
  public var path: [JSONValue]? { object["path"]?.array }
  /// Where in the document the error comes from; entries that are not a line and a column are left out.
  public var locations: [Location]? {
    object["locations"]?.array?.compactMap { entry in
      guard let line = entry["line"]?.int, let column = entry["column"]?.int else { return nil }
      return Location(line: line, column: column)
    }
  }
  /// What the server adds.
  public var extensions: JSONObject? { object["extensions"]?.object }
  /// The machine-readable code many servers put into the extensions.
  public var code: String? { extensions?["code"]?.string }

  public var description: String { message ?? JSONValue.object(object).description }
}
