import CarabinerManifest
import CarabinerWire
import Testing

@testable import CarabinerConformance

/// The configurations that plugins are created with.
@Suite("Configurations for a trial")
struct ConfigurationTests {
  static let schemas = [
    #"{"type":"object","required":["url"],"properties":{"url":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":3,"maximum":9}}}"#,
    #"{"type":"object","required":["mode","list"],"properties":{"mode":{"enum":["a","b"]},"list":{"type":"array","minItems":2,"items":{"type":"boolean"}}}}"#,
    #"{"type":"object","properties":{"rate":{"type":"number","default":0.5},"nested":{"type":"object","required":["x"],"properties":{"x":{"type":"null"}}}}}"#,
  ]

  @Test("the schema accepts the sample and its variants, which all differ", arguments: schemas)
  func accepted(_ schema: String) throws {
    let compiled = try CompiledSchema(JSONValue(parsing: schema))
    let texts = ConfigurationVariants.texts(for: schema, count: 30, seed: 7)
    #expect(texts.first == SampleConfiguration.text(for: schema))
    #expect(texts.count > 1 && Set(texts).count == texts.count)
    for text in texts { #expect(compiled.violations(in: try JSONValue(parsing: text)).isEmpty, "\(text)") }
  }

  @Test("the same seed makes the same ones", arguments: schemas)
  func reproducible(_ schema: String) {
    #expect(
      ConfigurationVariants.texts(for: schema, count: 20, seed: 3) == ConfigurationVariants.texts(for: schema, count: 20, seed: 3)
    )
  }

  @Test("an invalid or endless schema counts as the empty one", arguments: ["", "[]", "{", "true", "{\"type\":\"string\"}"])
  func useless(_ schema: String) { #expect(SampleConfiguration.text(for: schema) == "{}") }
}
