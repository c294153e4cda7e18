import CarabinerManifest
import CarabinerWire
import Testing

@Suite("Defaults of the schema")
struct SchemaDefaultTests {
  private func resolved(_ schema: JSONValue?, in document: JSONValue) -> JSONValue? {
    guard let reference = schema?["$ref"]?.string?.split(separator: "/").last else { return schema }
    return document["$defs"]?[String(reference)]
  }

  /// A manifest with this object at a place.
  private func manifest(_ object: JSONValue, at place: [String]) throws -> Manifest {
    let value = place.reversed().reduce(object) { .object(JSONObject([(key: $1, value: $0)])) }
    var members = try #require(value.object)
    members["carabiner"] = 1
    var manifest = try ManifestFixtures.manifest(JSONValue.object(members).description, format: .json)
    manifest.warnings = []
    return manifest
  }

  @Test(
    "a key with its default from the schema means the same as no key",
    arguments: [
      "settings", "settings/crash-loop", "settings/transport", "connect", "serve/compression", "serve/operations/limits",
      "built-ins/max-retry", "built-ins/persisted-queries", "fleet",
    ])
  func defaults(place: String) throws {
    let document = try JSONValue(parsing: Manifest.schema)
    let names = place.split(separator: "/").map { String($0) }
    let schema = names.reduce(Optional(document)) { resolved($0?["properties"]?[$1], in: document) }
    let properties = try #require(schema?["properties"]?.object)
    let standard = try manifest([:], at: names)
    let usual = properties.compactMap { key, property in property["default"].map { (key: key, value: $0) } }
    #expect(!usual.isEmpty)
    for member in usual {
      #expect(try manifest(.object(JSONObject([member])), at: names) == standard, "\(member.key): \(member.value)")
    }
  }
}
