import CarabinerManifest
import CarabinerWire
import Testing

@Suite("A violation has a clear message")
struct SchemaMessageTests {
  private static let messages: [(schema: String, value: String, pointer: String, keyword: String, message: String)] = [
    (
      #"{"properties": {"mode": {}, "path": {}}, "additionalProperties": false}"#, #"{"mod": 1}"#, "/mod",
      "additionalProperties",
      "unknown key mod (did you mean mode?); known are mode, path"
    ),
    (#"{"items": {"enum": ["exact", "fold"]}}"#, #"["exact", "exakt"]"#, "/1", "enum", "(did you mean exact?)"),
    (
      #"{"properties": {"a/b": {"items": {"type": ["integer", "null"]}}}}"#, #"{"a/b": [1, "x"]}"#, "/a~1b/1", "type",
      "this must be integer or null, and is string"
    ),
    (#"{"required": ["url"]}"#, "{}", "", "required", "url is missing; write it"),
    (#"{"dependentRequired": {"a": ["b"]}}"#, #"{"a": 1}"#, "", "dependentRequired", "a needs b beside it"),
    (#"{"minLength": 2}"#, #""x""#, "", "minLength", "at least 2 characters, and has 1"),
    (#"{"maxItems": 1}"#, "[1, 2]", "", "maxItems", "at most 1 element, and has 2"),
    (#"{"exclusiveMaximum": 1.50}"#, "2", "", "exclusiveMaximum", "2 must be less than 1.50"),
    (#"{"uniqueItems": true}"#, "[1, 2, 1.0]", "", "uniqueItems", "elements 0 and 2 are equal"),
    (#"{"pattern": "^a$"}"#, #""b""#, "", "pattern", "does not fit the pattern ^a$"),
    (#"{"propertyNames": {"maxLength": 1}}"#, #"{"ab": 1}"#, "/ab", "propertyNames", "not an allowed name"),
    (#"{"anyOf": [{"type": "null"}, {"type": "string"}]}"#, "1", "", "anyOf", "none of the 2 forms"),
    (#"{"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}"#, "0", "", "minimum", "0 must be at least 1"),
    (#"{"oneOf": [{}, {}]}"#, "0", "", "oneOf", "fits 2 of 2 forms"), (#"{"not": {}}"#, "0", "", "not", "not allowed"),
    (#"{"properties": {"a": false}}"#, #"{"a": 1}"#, "/a", "false", "remove it"),
    (#"{"contains": {"const": 1}, "minContains": 2}"#, "[1]", "", "contains", "only 1 elements have a form of which 2"),
  ]

  @Test("the place, the keyword and the remedy", arguments: messages)
  func message(_ row: (schema: String, value: String, pointer: String, keyword: String, message: String)) throws {
    let (schema, value, pointer, keyword, message) = row
    let violations = try CompiledSchema(JSONValue(parsing: schema)).violations(in: JSONValue(parsing: value))
    #expect(violations.count == 1, "\(violations)")
    let violation = try #require(violations.first)
    #expect(violation.pointer.description == pointer)
    #expect(violation.keyword == keyword)
    #expect(violation.message.contains(message), "\(violation.message)")
  }

  @Test("all violations are reported")
  func all() throws {
    let schema = try CompiledSchema(
      ["required": ["a", "b"], "properties": ["c": ["type": "string", "minLength": 1]], "additionalProperties": false])
    #expect(schema.violations(in: ["c": "", "d": 1]).map(\.pointer.description).sorted() == ["", "", "/c", "/d"])
  }
}
