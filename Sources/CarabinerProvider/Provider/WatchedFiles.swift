internal import CarabinerWire

/// The files that a plugin reads in addition to its own: texts of its configuration marked `"x-carabiner-watch": true` in its
/// schema.
enum WatchedFiles {
  /// The keyword. Other readers of the schema ignore it.
  static let keyword = "x-carabiner-watch"
  /// How many files of one plugin are watched.
  static let maximumCount = 256

  /// The paths of a configuration, as the plugin opens them.
  ///
  /// Only `properties` and `items` are followed. Files under conditional keywords of the schema are not watched.
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
