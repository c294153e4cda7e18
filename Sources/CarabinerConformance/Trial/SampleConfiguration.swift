internal import CarabinerBridge
internal import CarabinerWire

/// A configuration that a schema accepts: its defaults, and minimal values where it has none.
enum SampleConfiguration {
  /// A schema deeper than this is not followed.
  private static let maximumDepth = 16

  /// The configuration of a plugin if the author gives none; `{}` if there is no schema.
  static func text(for schema: String?) -> String {
    guard let schema, let json = try? JSONValue(parsing: schema) else { return "{}" }
    let value = sample(json, 0)
    return value.object == nil ? "{}" : value.serializedText
  }

  /// The sample with a secret in each top-level member whose name suggests a secret; nil if there is no such member.
  static func with(secret: String, for schema: String?) -> String? {
    guard let schema, let json = try? JSONValue(parsing: schema), let properties = json["properties"]?.object,
      var object = (try? JSONValue(parsing: text(for: schema)))?.object
    else { return nil }
    let names = properties.members.map(\.key).filter { name in
      properties[name]?["type"]?.string == "string"
        && ["token", "secret", "password", "apikey", "api-key"].contains { name.lowercased().contains($0) }
        // The URL of a service for tokens is not a secret, nor is the name of a header or cookie with one.
        && !["url", "uri", "endpoint", "header", "cookie", "name"].contains { name.lowercased().hasSuffix($0) }
    }
    for name in names { object[name] = .string(secret) }
    return names.isEmpty ? nil : JSONValue.object(object).serializedText
  }

  private static func sample(_ schema: JSONValue, _ depth: Int) -> JSONValue {
    if let value = schema["default"] ?? schema["const"] ?? schema["examples"]?[0] ?? schema["enum"]?[0] { return value }
    guard depth < maximumDepth else { return .null }
    let type = schema["type"]?.string ?? schema["type"]?[0]?.string ?? (schema["properties"] == nil ? "string" : "object")
    switch type {
    case "object":
      var object = JSONObject()
      for name in schema["required"]?.array?.compactMap(\.string) ?? [] {
        object[name] = sample(schema["properties"]?[name] ?? .object([:]), depth + 1)
      }
      return .object(object)
    case "array":
      let count = min(schema["minItems"]?.int ?? 0, 16)
      return .array((0..<count).map { _ in sample(schema["items"] ?? .object([:]), depth + 1) })
    case "integer", "number": return .number(JSONNumber(number(schema)))
    case "boolean": return .bool(true)
    case "null": return .null
    default: return .string(text(schema))
    }
  }

  private static func number(_ schema: JSONValue) -> Int {
    let least = schema["minimum"]?.int ?? schema["exclusiveMinimum"]?.int.map { $0 + 1 } ?? 1
    let most = schema["maximum"]?.int ?? schema["exclusiveMaximum"]?.int.map { $0 - 1 } ?? .max
    return min(max(least, 1), max(most, least))
  }

  private static func text(_ schema: JSONValue) -> String {
    // A URL, because many members require one, and it is also valid where any text is allowed.
    let text = "http://127.0.0.1:9/sample"
    let most = min(max(schema["maxLength"]?.int ?? 1024, 0), 1024)
    let least = min(max(schema["minLength"]?.int ?? 0, 0), 65536)
    let cut = String(text.prefix(most))
    return cut + String(repeating: "x", count: max(0, least - cut.count))
  }
}

extension JSONValue {
  var serializedText: String { String(decoding: serialized(), as: UTF8.self) }
}
