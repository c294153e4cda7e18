internal import CarabinerManifest
internal import CarabinerWire

/// Unusual configurations that a schema accepts, so a host may pass them to create().
enum ConfigurationVariants {
  private static let texts = [
    "", " ", "x", "0", "-1", "true", "null", "é\u{1F600}", "%s%n%x", "a\"b\\c", "line\nline", "../../etc/passwd", "/dev/null",
    "http://127.0.0.1:9/", "https://[::1]:65536/", "not a url", "Content-Type", "10s", "1h", "*", "org.example",
    String(repeating: "x", count: 300), String(repeating: "é", count: 5000),
  ]
  private static let numbers = [
    "0", "1", "-1", "2", "7", "100", "65535", "65536", "2147483648", "9007199254740993", "0.5", "1e3", "-0.0",
  ]

  /// Up to `count` different configurations, the sample first; fewer if the schema permits no more.
  static func texts(for schema: String?, count: Int, seed: UInt64) -> [String] {
    let plain = SampleConfiguration.text(for: schema)
    guard let schema, let json = try? JSONValue(parsing: schema), let compiled = try? CompiledSchema(json),
      let start = try? JSONValue(parsing: plain), let properties = json["properties"]?.object, !properties.isEmpty
    else { return [plain] }
    var generator = SeededGenerator(seed)
    var found = [plain]
    var seen: Set<String> = [plain]
    for _ in 0..<(count * 20) where found.count < count {
      var object = start.object ?? JSONObject()
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        guard let member = properties.members.randomElement(using: &generator) else { break }
        let isKept = Int.random(in: 0..<8, using: &generator) > 0
        object[member.key] = isKept ? value(for: member.value, 0, &generator) : nil
      }
      let text = JSONValue.object(object).serializedText
      guard seen.insert(text).inserted, compiled.violations(in: .object(object)).isEmpty else { continue }
      found.append(text)
    }
    return found
  }

  private static func value(for schema: JSONValue, _ depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
    if let values = schema["enum"]?.array, let value = values.randomElement(using: &generator) { return value }
    let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string ?? "string"]
    switch types.randomElement(using: &generator) {
    case "boolean": return .bool(Bool.random(using: &generator))
    case "null": return .null
    case "integer", "number":
      let bounds = ["minimum", "maximum"].compactMap { schema[$0] }
      if !bounds.isEmpty, Bool.random(using: &generator), let bound = bounds.randomElement(using: &generator) { return bound }
      return numbers.randomElement(using: &generator).flatMap { try? JSONValue(parsing: $0) } ?? .null
    case "array":
      guard depth < 3 else { return .array([]) }
      let items = schema["items"] ?? .object([:])
      return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(for: items, depth + 1, &generator) })
    case "object":
      guard depth < 3 else { return .object([:]) }
      var object = JSONObject()
      let required = Set(schema["required"]?.array?.compactMap(\.string) ?? [])
      for (name, property) in schema["properties"]?.object?.members ?? [] {
        if required.contains(name) || Bool.random(using: &generator) {
          object[name] = value(for: property, depth + 1, &generator)
        }
      }
      return .object(object)
    default: return .string(texts.randomElement(using: &generator) ?? "")
    }
  }
}
