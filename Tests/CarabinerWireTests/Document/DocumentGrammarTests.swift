import CarabinerWire
import Testing

@Suite("Executable documents are read as the September 2025 specification says")
struct DocumentGrammarTests {
  typealias Document = GraphQLDocument

  @Test("an anonymous shorthand is a query")
  func shorthand() throws {
    let document = try Document(parsing: "{ hero { name } }")
    let hero = Document.Field(name: "hero", selectionSet: [.field(Document.Field(name: "name"))])
    #expect(document.operations == [Document.OperationDefinition(type: .query, selectionSet: [.field(hero)])])
    #expect(document.fragments.isEmpty)
  }

  @Test("everything an operation can have is kept, in order")
  func operation() throws {
    let text = """
      mutation Save($input: [Book!]! = {a: [1, -2.50, "s"], b: $no}, $id: ID @old) @live(rate: 3) { x }
      """
    #expect(throws: GraphQLSyntaxError.self) { try Document(parsing: text) }
    let document = try Document(parsing: text.split(separator: ", b: $no").joined())
    let operation = try #require(document.operation(named: "Save"))
    #expect(operation.type == .mutation)
    #expect(operation.variables.map(\.name) == ["input", "id"])
    #expect(operation.variables[0].type == .nonNull(.list(.nonNull(.named("Book")))))
    let numbers = try [#require(JSONNumber(lexeme: "1")), #require(JSONNumber(lexeme: "-2.50"))]
    let list = Document.Value.list([.int(numbers[0]), .float(numbers[1]), .string("s")])
    #expect(operation.variables[0].defaultValue == .object([Document.Argument(name: "a", value: list)]))
    #expect(operation.variables[1].defaultValue == nil)
    #expect(operation.variables[1].directives == [Document.Directive(name: "old")])
    #expect(
      operation.directives == [
        Document.Directive(
          name: "live", arguments: [Document.Argument(name: "rate", value: .int(JSONNumber(3)))])
      ])
  }

  @Test("operations, fragments and variables may have descriptions, which are kept and printed")
  func descriptions() throws {
    let text = #"""
      """
      Reads a.
      """
      query Q("The id." $id: ID, """Years.""" $y: Int = 1) { a(id: $id, y: $y) }
      "Some \u0022fields\u0022." fragment F on Query { a }
      "Changes." mutation { b }
      """#
    let document = try Document(parsing: text)
    let query = try #require(document.operation(named: "Q"))
    #expect(query.description == "Reads a.")
    #expect(query.variables.map(\.description) == ["The id.", "Years."])
    #expect(document.fragment(named: "F")?.description == #"Some "fields"."#)
    #expect(document.operations.last?.description == "Changes.")
    #expect(try Document(parsing: document.description) == document)
    #expect(try Document(parsing: "query Q { a }").operations.first?.description == nil)
  }

  @Test(
    "a description belongs to a keyword or a variable",
    arguments: [#""a" { a }"#, #""a""#, #""a" "b" query { a }"#, #"query "a" { a }"#, #"query Q("a") { a }"#, #"{ "a" b }"#])
  func misplacedDescriptions(text: String) {
    let error = #expect(throws: GraphQLSyntaxError.self) { try Document(parsing: text) }
    #expect(error?.code == .unexpectedToken || error?.code == .unexpectedEnd)
  }

  @Test("descriptions are removed from a text without moving its lines")
  func withoutDescriptions() throws {
    let text = "\"\"\"\nReads é.\n\"\"\"\nquery Q(\"x\" $i: ID = \"x\") { a(b: \"x\") }\n\"y\"\nfragment F on T { a }"
    let plain = try #require(try Document.parsingWithoutDescriptions(text).text)
    #expect(plain == "   \n         \n   \nquery Q(    $i: ID = \"x\") { a(b: \"x\") }\n   \nfragment F on T { a }")
    #expect(try Document(parsing: plain).operation(named: "Q")?.variables.first?.defaultValue == .string("x"))
    #expect(try Document.parsingWithoutDescriptions(plain).text == nil)
  }

  @Test("fields, spreads and inline fragments are distinguished")
  func selections() throws {
    let document = try Document(
      parsing: """
        subscription {
          small: image(size: SMALL, of: $who) @include(if: true) { url }
          ...Parts @skip(if: $x)
          ... on Human { height }
          ... @include(if: false) { mass }
          ... { on }
          on: true
        }
        fragment Parts on Type @a { fragment, query: type }
        """)
    let url = Document.Selection.field(Document.Field(name: "url"))
    let selections = try #require(document.operation(named: nil)).selectionSet
    #expect(document.operation(named: nil)?.type == .subscription)
    #expect(
      selections == [
        .field(
          Document.Field(
            alias: "small", name: "image",
            arguments: [
              Document.Argument(name: "size", value: .enumeration("SMALL")),
              Document.Argument(name: "of", value: .variable("who")),
            ], directives: [directive("include", .boolean(true))], selectionSet: [url])),
        .fragmentSpread(
          Document.FragmentSpread(name: "Parts", directives: [directive("skip", .variable("x"))])),
        .inlineFragment(Document.InlineFragment(typeCondition: "Human", selectionSet: [field("height")])),
        .inlineFragment(
          Document.InlineFragment(
            directives: [directive("include", .boolean(false))], selectionSet: [field("mass")])),
        .inlineFragment(Document.InlineFragment(selectionSet: [field("on")])),
        .field(Document.Field(alias: "on", name: "true")),
      ])
    let parts = try #require(document.fragment(named: "Parts"))
    #expect(parts.typeCondition == "Type")
    #expect(parts.directives == [Document.Directive(name: "a")])
    #expect(parts.selectionSet == [field("fragment"), .field(Document.Field(alias: "query", name: "type"))])
    #expect(document.fragment(named: "Other") == nil)
  }

  private func directive(_ name: String, _ value: Document.Value) -> Document.Directive {
    Document.Directive(name: name, arguments: [Document.Argument(name: "if", value: value)])
  }

  private func field(_ name: String) -> Document.Selection { .field(Document.Field(name: name)) }

  @Test(
    "values of every kind",
    arguments: [
      ("0", .int(JSONNumber(0))), ("-12", .int(JSONNumber(-12))), ("true", .boolean(true)),
      ("false", .boolean(false)),
      ("null", .null), ("NULL", .enumeration("NULL")), ("$v", .variable("v")), ("[]", .list([])),
      ("{}", .object([])),
      ("[1 [2] , null]", .list([.int(JSONNumber(1)), .list([.int(JSONNumber(2))]), .null])),
      (
        "{a:1,a:$b}",
        .object([.init(name: "a", value: .int(JSONNumber(1))), .init(name: "a", value: .variable("b"))])
      ),
      ("\"\"", .string("")), (#""a # b""#, .string("a # b")),
      (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")),
      (#""\u00e9\uD83D\ude00\u{1F600}\u{0}\u{0000e9}""#, .string("é😀😀\0é")), (#""é😀""#, .string("é😀")),
      ("\"\"\"\"\"\"", .string("")), ("\"\"\"a\"b\"\"c\"\"\"", .string("a\"b\"\"c")),
      ("\"\"\"\\\"\"\" \\n\"\"\"", .string("\"\"\" \\n")),
      ("\"\"\"\n  one\n    two\n\n  three\n\"\"\"", .string("one\n  two\n\nthree")),
      ("\"\"\"  first\r\n    second\r   third\"\"\"", .string("  first\n second\nthird")),
      ("\"\"\"\n \t \n\"\"\"", .string("")), ("\"\"\"a\n\n\n\tb\n \n\"\"\"", .string("a\n\n\nb")),
    ] as [(String, Document.Value)])
  func values(text: String, expected: Document.Value) throws {
    let document = try Document(parsing: "{f(a:\(text))}")
    guard case .field(let field)? = document.operations.first?.selectionSet.first else {
      Issue.record("no field in \(document)")
      return
    }
    #expect(field.arguments.first?.value == expected)
  }

  @Test(
    "a number keeps its lexeme", arguments: ["1.50", "-0.0", "1e5", "1E+05", "12345678901234567890.5e-3"])
  func floats(lexeme: String) throws {
    let document = try Document(parsing: "{f(a:\(lexeme))}")
    #expect(document.description == "{\n  f(a: \(lexeme))\n}")
    let number = try #require(JSONNumber(lexeme: lexeme))
    guard case .field(let field)? = document.operations.first?.selectionSet.first else { return }
    #expect(field.arguments.first?.value == .float(number))
  }

  @Test("byte order marks, commas, comments and any line end are ignored")
  func ignored() throws {
    let text = "\u{feff}#c\r,{,a#é😀\r\n,b\u{feff}\t,,}\n#end"
    #expect(try Document(parsing: text) == Document(parsing: "{a b}"))
  }

  @Test("an operation is found by name, or without a name if it is the only one")
  func operationByName() throws {
    let two = try Document(parsing: "query A {a} query B {b} fragment F on T {f}")
    #expect(two.operation(named: nil) == nil)
    #expect(two.operation(named: "B")?.selectionSet == [field("b")])
    #expect(two.operation(named: "C") == nil)
    #expect(try Document(parsing: "query A {a} fragment F on T {f}").operation(named: nil)?.name == "A")
    #expect(try Document(parsing: "{a}").operation(named: "A") == nil)
    #expect(try Document(parsing: "fragment F on T {f}").operation(named: nil) == nil)
  }

  @Test("values become JSON, with variables replaced")
  func resolved() throws {
    let document = try Document(
      parsing: #"{f(a: {n: 1.50, e: RED, l: [$one, $none, true], m: $none, s: "x", z: null})}"#)
    guard case .field(let field)? = document.operations.first?.selectionSet.first else { return }
    let value = try #require(field.arguments.first?.value)
    #expect(
      value.resolved(with: ["one": ["k": 1]])?.description
        == #"{"n":1.50,"e":"RED","l":[{"k":1},null,true],"s":"x","z":null}"#)
    #expect(Document.Value.variable("none").resolved(with: [:]) == nil)
  }
}
