import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Schemas: reading the schema definition language")
struct SchemaReadingTests {
  @Test("types of each kind have their parts", .rule("schema.1"))
  func types() throws {
    let schema = try Schema(
      parsing: #"""
        "all" schema { query: Start mutation: Changes }
        "a time" scalar Time @specifiedBy(url: "https://example.com")
        type Start implements A & B @key(fields: "id") { "an id" id("which" n: [Int!]! = [1]): ID! @deprecated(reason: "old") other: [[B]!] }
        interface A implements B { id: ID! }
        interface B { id: ID! }
        type Changes { a(old: Int @deprecated): Int }
        union U = | Start | Changes
        enum E { "one" ONE TWO @deprecated }
        input I @oneOf { a: Int = 1 b: E @deprecated(reason: "no") }
        directive @key("names" fields: String!) repeatable on OBJECT | INTERFACE
        """#)
    #expect(schema.description == "all")
    #expect(schema.rootType(of: .query)?.name == "Start")
    #expect(schema.rootTypeName(of: .mutation) == "Changes")
    #expect(schema.rootType(of: .subscription) == nil)
    #expect(schema.types.map(\.name) == ["Time", "Start", "A", "B", "Changes", "U", "E", "I"])
    #expect(schema.types.map(\.kind) == [.scalar, .object, .interface, .interface, .object, .union, .enumeration, .inputObject])
    #expect(schema.type(named: "Time")?.specifiedByURL == "https://example.com")
    #expect(schema.type(named: "Time")?.description == "a time")
    let start = try #require(schema.type(named: "Start"))
    #expect(start.interfaces.map(\.name) == ["A", "B"])
    #expect(start.appliedDirectives.first?.argument(named: "fields") == .string("id"))
    let id = try #require(start.field(named: "id"))
    #expect(id.description == "an id")
    #expect(id.type.description == "ID!")
    #expect(id.deprecationReason == "old")
    #expect(id.argument(named: "n")?.defaultValue?.description == "[1]")
    #expect(id.argument(named: "n")?.description == "which")
    #expect(start.field(named: "other")?.type.description == "[[B]!]")
    #expect(schema.field("a", of: "Changes")?.arguments.first?.deprecationReason == "No longer supported")
    #expect(schema.type(named: "U")?.members.map(\.name) == ["Start", "Changes"])
    #expect(schema.type(named: "E")?.value(named: "ONE")?.description == "one")
    #expect(schema.type(named: "E")?.value(named: "TWO")?.deprecationReason == "No longer supported")
    #expect(schema.type(named: "I")?.isOneOf == true)
    #expect(schema.type(named: "I")?.inputField(named: "b")?.deprecationReason == "no")
    let key = try #require(schema.directive(named: "key"))
    #expect(key.isRepeatable)
    #expect(key.locations == [.object, .interface])
    #expect(key.arguments.first?.isRequired == true)
    #expect(schema.type(named: "Int")?.isBuiltIn == true)
    #expect(schema.directive(named: "include")?.argument(named: "if")?.type.description == "Boolean!")
  }

  @Test("an extension of each kind adds to its type, before or after the definition", .rule("schema.1"))
  func extensions() throws {
    let schema = try Schema(
      parsing: """
        extend type T { b: Int } type T { a: Int } extend type T implements N @d
        interface N { a: Int } extend interface N implements M { b: Int } interface M { b: Int }
        union U = T extend union U = V type V { a: Int }
        enum E { A } extend enum E { B }
        input I { a: Int } extend input I { b: Int } extend input I @oneOf
        scalar S extend scalar S @specifiedBy(url: "u")
        schema { query: T } extend schema @d { mutation: V }
        directive @d on OBJECT | SCHEMA
        """)
    #expect(schema.type(named: "T")?.fields.map(\.name) == ["b", "a"])
    #expect(schema.type(named: "T")?.interfaces.map(\.name) == ["N"])
    #expect(schema.type(named: "T")?.appliedDirectives.map(\.name) == ["d"])
    #expect(schema.type(named: "N")?.interfaces.map(\.name) == ["M"])
    #expect(schema.type(named: "N")?.fields.map(\.name) == ["a", "b"])
    #expect(schema.type(named: "U")?.members.map(\.name) == ["T", "V"])
    #expect(schema.type(named: "E")?.values.map(\.name) == ["A", "B"])
    #expect(schema.type(named: "I")?.inputFields.map(\.name) == ["a", "b"])
    #expect(schema.type(named: "I")?.isOneOf == true)
    #expect(schema.type(named: "S")?.specifiedByURL == "u")
    #expect(schema.appliedDirectives.map(\.name) == ["d"])
    #expect(schema.rootTypeName(of: .mutation) == "V")
  }

  @Test("several files are one schema, and each definition has its file, line and column", .rule("schema.1"))
  func files() throws {
    let schema = try Schema(parsing: [
      SchemaSource(file: "a.graphqls", text: "type Query {\n  é: Int\n  book: Book }".replacing("é", with: "e")),
      SchemaSource(file: "empty.graphqls", text: "# nothing yet\n"),
      SchemaSource(file: "b.graphqls", text: "\"é\" type Book { id: ID! } extend type Query { books: [Book!]! }"),
    ])
    #expect(schema.rootType(of: .query)?.fields.map(\.name) == ["e", "book", "books"])
    #expect(schema.field("book", of: "Query")?.location?.description == "a.graphqls:3:3")
    #expect(schema.field("book", of: "Query")?.type.location?.description == "a.graphqls:3:9")
    #expect(schema.type(named: "Book")?.location?.description == "b.graphqls:1:10")
    let error = #expect(throws: SchemaError.self) {
      try Schema(parsing: [SchemaSource(file: "a", text: "type A { a: Int }"), SchemaSource(file: "b", text: "type B {\n a }")])
    }
    #expect(error?.description == "expected \":\" and a type, found \"}\" at b, line 2, column 4")
  }

  @Test("interfaces and unions have their objects", .rule("schema.1"))
  func possibleTypes() throws {
    let schema = try Schema(
      parsing:
        "interface A { a: Int } type B implements A { a: Int } extend type C implements & A { a: Int } union U extend union U = B"
    )
    #expect(schema.object("B", fits: "A") == true)
    #expect(schema.object("C", fits: "A") == true)
    #expect(schema.object("B", fits: "U") == true)
    #expect(schema.object("C", fits: "U") == false)
    #expect(schema.object("B", fits: "B") == true)
    #expect(schema.object("B", fits: "C") == false)
    #expect(schema.object("X", fits: "U") == nil)
    #expect(schema.object("B", fits: "X") == nil)
    #expect(schema.object("B", fits: "Int") == nil)
    let (a, u, c) = (
      try #require(schema.type(named: "A")), try #require(schema.type(named: "U")), try #require(schema.type(named: "C"))
    )
    #expect(schema.possibleTypes(of: a).map(\.name) == ["B", "C"])
    #expect(schema.overlap(a, u))
    #expect(!schema.overlap(u, c))
  }

  @Test("fields with required arguments are marked", .rule("schema.1"))
  func requiredArguments() throws {
    let schema = try Schema(
      parsing: #"type T { "one" a(x: Int = 1, y: [Int!] @d): [[B!]!] b(x: Int!): B c(x: Int! = 2): C @deprecated(reason: "x") }"#)
    #expect(schema.field("a", of: "T")?.type.name == "B")
    #expect(schema.field("a", of: "T")?.needsNoArguments == true)
    #expect(schema.field("b", of: "T")?.needsNoArguments == false)
    #expect(schema.field("c", of: "T")?.needsNoArguments == true)
    #expect(schema.field("d", of: "T") == nil)
  }

  @Test("words of the language may name types and fields, and old schemas list interfaces without &", .rule("schema.1"))
  func words() throws {
    let schema = try Schema(
      parsing:
        "type type implements interface, Other type extend { input: enum on: type } scalar input interface interface { on: type }"
    )
    #expect(schema.object("type", fits: "interface") == true)
    #expect(schema.object("type", fits: "Other") == true)
    #expect(schema.field("on", of: "extend")?.type.name == "type")
    #expect(schema.type(named: "Other") == nil)
  }

  @Test("a reference to a type shows its lists and exclamation marks one by one", .rule("schema.1"))
  func references() throws {
    let schema = try Schema(parsing: "type Query { a: [[Int!]]! }")
    let type = try #require(schema.field("a", of: "Query")?.type)
    #expect(type.isNonNull)
    #expect(type.isList)
    #expect(type.nullable.description == "[[Int!]]")
    #expect(type.element?.description == "[Int!]")
    #expect(type.element?.element?.description == "Int!")
    #expect(type.element?.element?.nullable.description == "Int")
    #expect(type.element?.element?.element == nil)
    #expect(schema.type(of: type)?.kind == .scalar)
  }

  @Test("two schemas are equal if they define the same in any order", .rule("schema.1"))
  func equality() throws {
    let one = try Schema(
      parsing:
        "type Query implements A & B { a(x: Int y: Int): Int b: E } enum E { X Y } interface A { a: Int } interface B { b: E }")
    let other = try Schema(
      parsing:
        "interface B { b: E } enum E { Y X } interface A { a: Int }\ntype Query implements B & A { b: E a(y: Int x: Int): Int }")
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    for text in [
      "type Query { a: Int }", "type Query { a: Int! }", "type Query { a: [Int] }", "type Query { a(x: Int): Int }",
      "scalar Query",
    ] {
      for second in [
        "type Query { a: Int b: Int }", "type Query { a: ID }", "type Query { \"text\" a: Int }", "schema { query: Query }",
      ] {
        #expect(try Schema(parsing: text) != Schema(parsing: second))
      }
    }
  }

  @Test(
    "a text that is not a schema is refused with its place", .rule("schema.1"),
    arguments: [
      "", "{ a }", "query { a }", "type", "type T {", "type T { a }", "union U =", "\"text\"", "directive @d", "schema { query }",
      "extend directive @d on FIELD", "type T { a(x: Int = $v): Int }", "type T { a: [Int }", "type T { a: Int!! }",
      "type T @d(x: $v)",
    ])
  func refused(_ text: String) {
    let error = #expect(throws: SchemaError.self) { try Schema(parsing: text) }
    #expect(error?.code == .syntax)
    #expect(error?.location != nil)
    #expect(error?.description.contains(" at line 1, column ") == true)
  }

  @Test("a schema of 70,000 lines is read", .rule("schema.1"))
  func large() throws {
    let text = GeneratedSchema.text(lines: 70_000, seed: 7)
    let schema = try Schema(parsing: text)
    let roots = try #require(schema.rootType(of: .query)).fields.count
    #expect(roots > 1000)
    // Each group has seven types and one field of the root type, beside the five types of the head.
    #expect(schema.types.count == (roots - 1) * 8 + 4)
    #expect(schema.type(named: "Object\(roots - 1)")?.interfaces.count == 2)
  }
}
