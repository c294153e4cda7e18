import CarabinerManifest
import CarabinerWire
import Testing

@Suite("A schema that cannot be used is refused")
struct SchemaFaultTests {
  private static let faults: [(schema: String, pointer: String, message: String)] = [
    ("1", "", "a schema is an object or a truth value, and this is number"),
    (##"{"properties": {"a": 1}}"##, "/properties/a", "number"),
    (##"{"type": "text"}"##, "/type", "one or more of null, boolean"), (##"{"type": []}"##, "/type", "one or more"),
    (##"{"required": "a"}"##, "/required", "must be a list"), (##"{"required": [1]}"##, "/required", "a list of texts"),
    (##"{"minimum": "1"}"##, "/minimum", "must be a number"), (##"{"multipleOf": 0}"##, "/multipleOf", "more than 0"),
    (##"{"multipleOf": 1.2345678901234567891}"##, "/multipleOf", "at most 18 digits"),
    (##"{"maxLength": -1}"##, "/maxLength", "a whole number from 0"), (##"{"minItems": 0.5}"##, "/minItems", "a whole number"),
    (##"{"uniqueItems": 1}"##, "/uniqueItems", "true or false"), (##"{"anyOf": []}"##, "/anyOf", "needs a schema at least"),
    (##"{"items": [{}]}"##, "/items", "this is array"), (##"{"enum": 1}"##, "/enum", "must be a list"),
    (##"{"properties": []}"##, "/properties", "must be an object"),
    (##"{"dependentRequired": {"a": 1}}"##, "/dependentRequired/a", "must be a list"),
    (##"{"$defs": {"a": {"pattern": "("}}}"##, "/$defs/a/pattern", "a ( is not closed"),
    (##"{"patternProperties": {"[a": {}}}"##, "/patternProperties", "a [ is not closed"),
    (##"{"$ref": "#/$defs/a"}"##, "", "leads nowhere"), (##"{"$ref": "#a"}"##, "", "leads nowhere"),
    (##"{"$ref": 1}"##, "/$ref", "a text"), (##"{"$ref": "https://example.org/s.json"}"##, "", "leads nowhere"),
    (##"{"$ref": "#/%zz"}"##, "", "leads nowhere"), (##"{"$ref": "#"}"##, "", "without end"),
    (##"{"$ref": "#/x", "x": 1}"##, "/x", "this is number"), (##"{"not": {"if": {"$ref": "#"}}}"##, "", "without end"),
    (
      ##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}"##, "",
      "without end"
    ),
    (##"{"$dynamicRef": "#a"}"##, "", "use $ref"),
    (##"{"unevaluatedProperties": false}"##, "", "unevaluatedProperties is not supported; use additionalProperties"),
    (##"{"properties": {"a": {"$id": "b"}}}"##, "/properties/a", "use $defs and $ref"),
  ]

  @Test("with the place in it and the reason", arguments: faults)
  func fault(schema: String, pointer: String, message: String) throws {
    let fault = #expect(throws: CompiledSchema.Fault.self) { try CompiledSchema(JSONValue(parsing: schema)) }
    #expect(fault?.pointer.description == pointer)
    #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
  }

  private static let patterns: [(pattern: String, message: String)] = [
    ("a)", ") without a ("), ("*a", "nothing before * to repeat"), ("a**", "a quantifier cannot follow"),
    ("a{2,1}", "is descending"),
    ("a{1001}", "above 1000"), ("((a{1000}){1000})", "longer than 5000 steps"), ("[z-a]", "is not ascending"),
    ("[\\w-z]", "is not ascending"),
    ("\\", "ends with a backslash"), ("\\y", "\\y is not a known escape"), ("\\1", "backreferences"),
    ("(a)\\k<a>", "backreferences"),
    ("(?=a)", "lookaround"), ("(?!a)", "lookaround"), ("(?<=a)", "lookaround"), ("(?<!a)", "lookaround"),
    ("(?a)", "must be followed by"), ("\\p{L}", "write a class"), ("^*", "an anchor cannot be repeated"),
    ("\\xZZ", "not the number of a character"),
    ("\\uD800", "not the number of a character"), ("\\u{110000}", "not the number of a character"), ("(?<>a)", "has no name"),
    (String(repeating: "(", count: 200), "nested deeper than 100"), (String(repeating: "a", count: 5000), "longer than 4096"),
  ]

  @Test("a pattern that is malformed, or uses lookaround or backreferences", arguments: patterns)
  func pattern(pattern: String, message: String) throws {
    let fault = #expect(throws: CompiledSchema.Fault.self) { try CompiledSchema(["pattern": .string(pattern)]) }
    #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
  }

  @Test(
    "a hostile pattern is not slower than a simple one",
    arguments: ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(a*)*b", "^(a?){100}a{100}$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$"])
  func hostilePattern(pattern: String) throws {
    let schema = try CompiledSchema(["pattern": .string(pattern)])
    let clock = ContinuousClock()
    let time = clock.measure { _ = schema.violations(in: .string(String(repeating: "a", count: 2000) + "!")) }
    // With backtracking this would practically never end. The bound is not a performance requirement.
    #expect(time < .seconds(60))
  }

  @Test("a schema that needs too many steps is stopped")
  func hostileSchema() throws {
    var definitions: JSONObject = ["s40": ["type": "string"]]
    for level in 0..<40 {
      let next: JSONValue = ["$ref": .string("#/$defs/s\(level + 1)")]
      definitions["s\(level)"] = ["anyOf": [next, next]]
    }
    let schema = try CompiledSchema(["$defs": .object(definitions), "$ref": "#/$defs/s0"])
    #expect(schema.violations(in: "text").isEmpty)
    let violations = schema.violations(in: 1)
    #expect(violations.count == 1)
    #expect(violations.first?.message.contains("the check takes too long") == true)
  }

  @Test("four hundred definitions in a row are followed")
  func longChain() throws {
    var definitions: JSONObject = ["d400": ["type": "string"]]
    for level in 0..<400 { definitions["d\(level)"] = ["$ref": .string("#/$defs/d\(level + 1)")] }
    let schema = try CompiledSchema(["$defs": .object(definitions), "$ref": "#/$defs/d0"])
    #expect(schema.violations(in: "text").isEmpty)
    #expect(schema.violations(in: 1).map(\.keyword) == ["type"])
  }
}
