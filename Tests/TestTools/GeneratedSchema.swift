/// A valid schema of any length, with every construct of the language. Equal seeds give equal texts.
public struct GeneratedSchema {
  private static let scalars = ["Int", "Float", "String", "Boolean", "ID", "DateTime"]
  private var state: UInt64
  private var lines: [String] = []
  private var number = 0

  /// A text of at least this many lines.
  public static func text(lines count: Int, seed: UInt64) -> String {
    var schema = GeneratedSchema(state: seed)
    schema.appendHead()
    while schema.lines.count < count { schema.appendGroup() }
    return schema.lines.joined(separator: "\n") + "\n"
  }

  private init(state: UInt64) { self.state = state }

  /// SplitMix64.
  private mutating func random(below limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((value ^ value >> 31) % UInt64(limit))
  }

  private mutating func appendHead() {
    lines += [
      "\"A generated schema\"", "schema @link(url: \"https://example.com\") {", "  query: Root", "  mutation: Changes", "}",
      "directive @link(url: String!) repeatable on SCHEMA", "\"\"\"", "The cost of a field", "\"\"\"",
      "directive @cost(\"How much\" weight: Int! = 1, tags: [String!]) on FIELD_DEFINITION | OBJECT | ENUM_VALUE",
      "scalar DateTime @specifiedBy(url: \"https://example.com/time\")", "type Root {", "  node(id: ID!): Node", "}",
      "type Changes {",
      "  touch(id: ID!): Boolean!", "}", "interface Node {", "  id: ID!", "}",
    ]
  }

  private mutating func appendGroup() {
    number += 1
    let count = 4 + random(below: 12)
    lines += ["\"\"\"", "Objects of the group \(number),", "  with \"quotes\" and a long description.", "\"\"\""]
    lines += [
      "interface Named\(number) implements Node {", "  id: ID!", "  \"the name\"", "  name(upper: Boolean = false): String", "}",
    ]
    lines.append("type Object\(number) implements Node & Named\(number) @cost(weight: \(random(below: 9))) {")
    lines += ["  id: ID!", "  name(upper: Boolean = false, language: Language\(number)): String!"]
    for field in 0..<count { appendField(field) }
    lines += ["}", "type Other\(number) {", "  object: Object\(number)", "  union: [Union\(number)!]!", "}"]
    lines.append("union Union\(number) = Object\(number) | Other\(number)")
    lines.append("enum Language\(number) {")
    for value in 0..<count { lines.append("  VALUE_\(value)" + (random(below: 5) == 0 ? " @deprecated(reason: \"old\")" : "")) }
    lines += ["}", "input Filter\(number) {", "  language: Language\(number) = VALUE_0", "  and: [Filter\(number)!]"]
    lines += ["  range: Range\(number) = {from: 1, to: [2.5, 3]}", "  text: String = \"a\\u00e9\\n\" @deprecated", "}"]
    lines += ["input Range\(number) {", "  from: Int! = \(random(below: 100))", "  to: [Float!]", "}"]
    lines += ["input Choice\(number) @oneOf {", "  id: ID", "  name: String", "}"]
    lines += [
      "extend type Root {", "  objects\(number)(filter: Filter\(number), choice: Choice\(number)): [Object\(number)!]!", "}",
    ]
    lines += ["# A comment", "extend enum Language\(number) { EXTENDED }", ""]
  }

  private mutating func appendField(_ field: Int) {
    let type = Self.scalars[random(below: Self.scalars.count)]
    if random(below: 3) == 0 { lines.append("  \"Field \(field) of the object\"") }
    let shapes = [type, "\(type)!", "[\(type)]", "[\(type)!]!", "[[\(type)!]]"]
    let cost = random(below: 8) == 0 ? " @cost(weight: 3, tags: [\"a\", \"b\"])" : ""
    lines.append("  field\(field): \(shapes[random(below: shapes.count)])\(cost)")
  }
}
