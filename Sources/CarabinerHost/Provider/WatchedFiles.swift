internal import CarabinerWire

/// The files that a plugin reads beside its own: texts of its configuration that its schema marks with `"x-carabiner-watch": true`.
enum WatchedFiles {
  /// The keyword; other readers of the schema pass over it.
  static let keyword = "x-carabiner-watch"
  /// How many files one plugin may have watched.
  static let maximumCount = 256

  /// The paths of a configuration, as the plugin opens them.
  ///
  /// Only `properties` and `items` are followed: a file that depends on a condition is none that a person would look for.
  static func named(by schema: String?, in configuration: JSONValue) -> [String] {
    guard let schema, schema.contains(keyword), let schema = try? JSONValue(parsing: schema) else { return [] }
    return Array(paths(schema, configuration).prefix(maximumCount))
  }

  private static func paths(_ schema: JSONValue, _ value: JSONValue) -> [String] {
    switch value {
    case .string(let text): return schema[keyword]?.bool == true && !text.isEmpty && !text.contains("${") ? [text] : []
    case .array(let elements):
      guard let items = schema["items"] else { return [] }
      return elements.flatMap { paths(items, $0) }
    case .object(let object):
      return object.flatMap { key, member in schema["properties"]?[key].map { paths($0, member) } ?? [] }
    case .null, .bool, .number: return []
    }
  }
}
