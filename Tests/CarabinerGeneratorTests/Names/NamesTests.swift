import CarabinerSchema
import TestTools
import Testing

@testable import CarabinerGenerator

@Suite("Generator: names")
struct NamesTests {
  @Test(
    "names of fields, cases and types in Swift", .rule("generate.7"),
    arguments: [
      ("title", "title", "title", "title"), ("NEW_HOPE", "new_hope", "newHope", "NEW_HOPE"), ("JEDI", "jedi", "jedi", "JEDI"),
      ("favorite_color", "favorite_color", "favoriteColor", "favorite_color"), ("_id", "_id", "_id", "_id"),
      ("newHope", "newHope", "newHope", "newHope"), ("URL", "url", "url", "URL"), ("A1", "a1", "a1", "A1"),
    ])
  func words(_ name: String, _ property: String, _ camelCase: String, _: String) {
    #expect(Words.property(name) == property)
    #expect(Words.camelCased(name) == camelCase)
  }

  @Test(
    "words in the singular", .rule("generate.3"),
    arguments: [
      ("friends", "friend"), ("allAnimals", "allAnimal"), ("categories", "category"), ("addresses", "address"),
      ("classes", "class"), ("boxes", "box"), ("people", "person"), ("children", "child"), ("status", "status"),
      ("series", "series"), ("search", "search"), ("bestHeroes", "bestHero"), ("s", "s"), ("news", "news"),
      ("houses", "house"), ("branches", "branch"), ("old_books", "old_book"), ("analyses", "analysis"), ("shelves", "shelf"),
    ])
  func singular(_ plural: String, _ singular: String) { #expect(Singular.of(plural) == singular) }

  @Test("keywords are in backticks, and names of Swift types have an ending", .rule("generate.7"))
  func keywords() throws {
    let schema = try Schema(
      parsing: """
        type Query { self: Int init: Int default: Data in: Type! string: String data: Data }
        type Data { self: Self hash: String type: Int Protocol: Int error: Query }
        enum Self { init2 default switch }
        type Type { id: ID }
        """)
    let text = try Sample.text(
      "query A { self init default { self hash } in { id } string data { type Protocol error { string } } }", schema: schema)
    for part in [
      "let `self`: Int?", "let `default`: Default?", "let `in`: In", "struct Data_SelectionSet: SelectionSet",
      "enum Self_Enum: String", "case `default`", "let data: Data_SelectionSet?", "let error: Error_SelectionSet?",
      "self.`self` = try object.value(\"self\")",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test("a type that another one hides has a second name", .rule("generate.7"))
  func hiddenTypes() throws {
    let text = try Sample.text("query A { books { author { ...Author } } } fragment Author on Person { name }")
    #expect(text.contains("let author: __Author\n"))
    #expect(text.contains("typealias __Author = Author\n"))
  }

  @Test(
    "names that cannot be used are refused with the key that renames them", .rule("generate.7"),
    arguments: [
      ("query A { f: hashValue }", "A.graphql:1:11: error: hashValue", ["Query.f": "hashValue"]),
      ("query A { a: x A: x }", "would both be the property a; rename it with the key renames: {Query.A: NAME}", [:]),
      ("query A { friend { x } friends { x } }", "A.graphql:1:24: error: the objects of friends and of friend", [:]),
      ("query A($document: Int) { y(a: $document) }", "A.graphql:1:9: error: the variable $document cannot", [:]),
      ("query A { c }", "s.graphqls:1:", [:]), ("query B { x } query BQuery { x }", "would both be the type BQuery", [:]),
      ("{ x }", "A.graphql:1:1: error: the operation has no name", [:]),
      ("\"Says $self.\"\nquery A(\n  $self: Int) { y(a: $self) }", "A.graphql:3:3: error: the variable $self cannot", [:]),
      ("query A { __schema { queryType { name } } }", "A.graphql:1:11: error: __schema describes the schema", [:]),
      ("query A($is: In) { d(is: $is) }", "s.graphqls:1:148: error: In._in cannot be named _in", [:]),
      ("query A { ...A2 ...a2 } fragment A2 on Query { x } fragment a2 on Query { x }", "{...a2: NAME}", [:]),
    ])
  func refused(_ document: String, _ message: String, _ renames: [String: String]) throws {
    let schema = try Schema(
      parsing: [
        SchemaSource(
          file: "s.graphqls",
          text:
            "type Query { hashValue: Int x: Int y(a: Int): Int friend: Query friends: [Query] c: C d(is: In): Int } enum C { FOO_BAR fooBar } input In { in: In _in: Int }"
        )
      ])
    let problems = try Sample.problems(document, schema: schema) { $0.renames = renames }
    #expect(problems.contains { $0.contains(message) }, "\(problems)")
  }

  @Test("renames apply to fields, types, cases, variables, operations and fragments", .rule("generate.7"))
  func renames() throws {
    let document = "query A($id: ID!) { book(id: $id) { ...F genre } } fragment F on Book { title }"
    let text = try Sample.text(document) { configuration in
      configuration.renames = [
        "A": "Answer", "A.$id": "identifier", "Book.title": "heading", "Genre": "Kind", "Genre.CRIME": "murder", "F": "Part",
      ]
    }
    for part in [
      "struct Answer: GraphQLQuery", "var identifier: ID", "writeIfGiven(\"id\", identifier)", "let heading: String",
      "enum Kind: String", "case murder = \"CRIME\"", "struct Part: SelectionSet", "GraphQLEnum<Kind>?", "let part: Part",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test("a fragment and a type of one name are renamed apart", .rule("generate.7"))
  func renamedApart() throws {
    let schema = try Schema(parsing: "type Query { role: Role } enum Role { USER }")
    let document = "query A { ...Role } fragment Role on Query { role }"
    #expect(
      try Sample.problems(document, schema: schema).first?.contains("rename one with the key renames: {...Role: NAME}") == true)
    let text = try Sample.text(document, schema: schema) { $0.renames = ["...Role": "RoleParts"] }
    #expect(text.contains("struct RoleParts: SelectionSet") && text.contains("enum Role: String"))
  }

  @Test("a key that names nothing in the schema or the documents is refused", .rule("generate.13"))
  func unknownNames() throws {
    let document = "query A($id: ID!) { book(id: $id) { ...F t: title } } fragment F on Book { title }"
    let known = ["A", "A.$id", "F", "...F", "Book", "Book.title", "Book.t", "Genre.CRIME", "Mock<Book>", "BookFilter.title"]
    #expect(
      try Sample.problems(document) {
        $0.checkedKeys = Dictionary(uniqueKeysWithValues: known.map { ($0, .init(file: "c", message: "")) })
      } == [])
    for unknown in ["B", "A.$of", "...G", "Book.pubs", "Genre.X", "Mock<Bok>", "Boook.title"] {
      let problems = try Sample.problems(document) {
        $0.checkedKeys = [unknown: .init(file: "c", line: 2, column: 3, message: "")]
      }
      #expect(problems.first?.hasPrefix("c:2:3: error: neither the schema nor a document has \(unknown)") == true, "\(problems)")
    }
  }

  @Test("types of fields, labels and scalars do not hide what generated code uses, nor each other", .rule("generate.7"))
  func hidingTypes() throws {
    let schema = try Schema(
      parsing: """
        type Query { _meta: M iSO8601Date: M at: Date since: DateTime foundation: Foundation a: Node b: node }
        type M { id: Int x: M _x: Int \((0..<20).map { "s\($0): String" }.joined(separator: " ")) }
        enum Foundation { A }
        interface Node { id: Int } interface node { id: Int } type N implements Node & node { id: Int }
        scalar Date scalar DateTime
        """)
    let strings = (0..<20).map { "s\($0)" }.joined(separator: " ")
    let text = try Sample.text(
      """
      query A {
        _meta { x { \(strings) } _x ... @defer(label: "type") { id } }
        iSO8601Date { id } at since foundation a { ... on N { id } } b { ... on N { id } }
        ... on Query { a { ... on node { id } } b { ... on Node { id } } }
      }
      """, schema: schema
    ) { $0.scalars["DateTime"] = .init(type: "Foundation.Date", module: "Foundation", coding: "ISO8601Date") }
    for part in [
      "let _meta: _Meta?", "struct _Meta: SelectionSet", "struct ISO8601Date_SelectionSet", "typealias Date_Scalar = String",
      "typealias DateTime = Foundation.Date", "enum Foundation_Enum", "struct Type_Deferred", "let x: X?", "let _x: Int?",
      "static let Node: Set<String>", "static let node: Set<String>",
    ] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
  }

  @Test("literals with quotes, signs and control characters are one line", .rule("generate.6"))
  func literals() {
    #expect(SwiftLiteral.string("a\"b\\c\nd\u{0}\u{202E}") == #""a\"b\\c\nd\u{0}\u{202e}""#)
    #expect(SwiftLiteral.rawString("plain") == "\"plain\"")
    #expect(SwiftLiteral.rawString("a\"#b") == "##\"a\"#b\"##")
  }
}
