import CarabinerWire
import Testing

@Suite("Schemas: the types of a schema definition document")
struct SchemaTypesTests {
  @Test("interfaces and unions have their objects, extensions included")
  func possibleTypes() throws {
    let schema = try GraphQLSchemaTypes(
      parsing:
        "interface A { a: Int } type B implements A { a: Int } extend type C implements & A { a: Int } union U extend union U = B"
    )
    #expect(schema.object("B", fits: "A") == true)
    #expect(schema.object("C", fits: "A") == true)
    #expect(schema.object("B", fits: "U") == true)
    #expect(schema.object("C", fits: "U") == false)
    #expect(schema.object("X", fits: "U") == nil)
    #expect(schema.object("B", fits: "X") == nil)
  }

  @Test("fields have their types, and fields with required arguments are marked")
  func fields() throws {
    let schema = try GraphQLSchemaTypes(
      parsing: #"type T { "one" a(x: Int = 1, y: [Int!] @d): [[B!]!] b(x: Int!): B c(x: Int! = 2): C @deprecated(reason: "x") }"#)
    #expect(schema.field("a", of: "T")?.type == "B")
    #expect(schema.field("a", of: "T")?.needsNoArguments == true)
    #expect(schema.field("b", of: "T")?.needsNoArguments == false)
    #expect(schema.field("c", of: "T")?.needsNoArguments == true)
    #expect(schema.field("d", of: "T") == nil)
  }

  @Test("words of the language may name types and fields, and old schemas list interfaces without &")
  func words() throws {
    let schema = try GraphQLSchemaTypes(
      parsing:
        "type type implements interface, Other type extend { input: enum on: type } scalar input interface interface { on: type }"
    )
    #expect(schema.object("type", fits: "interface") == true)
    #expect(schema.field("on", of: "extend")?.type == "type")
  }

  @Test(
    "a text that is not a schema is refused with its place",
    arguments: [
      "", "{ a }", "query { a }", "type", "type T {", "type T { a }", "union U =", "\"text\"", "directive @d", "schema { query }",
    ])
  func refused(_ text: String) {
    #expect(throws: GraphQLSyntaxError.self) { try GraphQLSchemaTypes(parsing: text) }
  }

  @Test("a schema that is too large is refused before it is read")
  func tooLarge() {
    #expect(throws: GraphQLSyntaxError.self) {
      try GraphQLSchemaTypes(parsing: "type T { a: Int }", limits: GraphQLLimits(maximumBytes: 10))
    }
  }
}
