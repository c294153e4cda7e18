public import CarabinerWire

/// An entry of a response's `errors`.
public struct GraphQLError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The whole entry, as the server sent it.
  public let object: JSONObject

  /// An error made of this entry.
  public init(_ object: JSONObject) { self.object = object }

  /// What the server says.
  public var message: String? { object["message"]?.string }
  /// Where in the response the error belongs: names and list indices.
  public var path: [JSONValue]? { object["path"]?.array }
  /// What the server adds.
  public var extensions: JSONObject? { object["extensions"]?.object }
  /// The machine-readable code many servers put into the extensions.
  public var code: String? { extensions?["code"]?.string }

  public var description: String { message ?? JSONValue.object(object).description }
}
