import CarabinerGenerator
import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Generator: operations and selection sets")
struct SelectionTests {
  /// The properties of the generated text: `let` and `var` with their types, without access and wrappers.
  private func properties(_ document: String) throws -> [String] {
    let words: Set<Substring> = ["let", "var", "public", "private(set)", "@Boxed", "@BoxedOptional", "@Deferred"]
    let names: Set<Substring> = ["let", "var"]
    var found: [String] = []
    for line in try Sample.text(document).split(separator: "\n") {
      let parts = line.split(separator: " ").prefix { words.contains($0) }
      guard parts.contains(where: names.contains) else { continue }
      let rest = line.split(separator: " ").dropFirst(parts.count).joined(separator: " ")
      found.append(String(rest.split(separator: " {").first ?? ""))
    }
    return found.filter { !$0.hasPrefix("__typename") }
  }

  @Test("required, optional and default arguments have different types", .rule("generate.2"))
  func variables() throws {
    let text = try Sample.text(
      "query A($id: ID!, $size: Int, $names: [[String]!], $by: SearchBy = {title: \"a\"}, $n: Int! = 2) "
        + "{ book(id: $id) { reviews(first: $size) { stars } } a: search(by: $by) { __typename } "
        + "b: books(first: $n) { title } c: books(filter: {genre_in: $names}) { id } }", schema: anySchema())
    #expect(
      text.contains(
        """
          init(
            id: ID,
            size: GraphQLNullable<Int> = .none,
            names: GraphQLNullable<[[String?]]> = .none,
            by: GraphQLNullable<SearchBy> = .none,
            n: Int? = nil
          ) {
        """))
  }

  /// The schema of the sample with places for each kind of variable.
  private func anySchema() throws -> Schema {
    try Schema(
      parsing: """
        type Query { book(id: ID!): Book books(first: Int! = 1, filter: Filter): [Book] search(by: SearchBy! = {title: ""}): Book }
        type Book { id: ID title: String reviews(first: Int): Book stars: Int }
        input Filter { genre_in: [[String]!] }
        input SearchBy @oneOf { title: String }
        """)
  }

  @Test("mutations and subscriptions have their kind in the name and the protocol", .rule("generate.2"))
  func kinds() throws {
    let text = try Sample.text(
      "mutation Add($r: ReviewInput!) { addReview(review: $r) { stars } } subscription Added { reviewAdded { stars } } "
        + "query AllQuery { books { id } }")
    #expect(text.contains("struct AddMutation: GraphQLMutation, GeneratedOperation {"))
    #expect(text.contains("struct AddedSubscription: GraphQLSubscription, GeneratedOperation {"))
    #expect(text.contains("struct AllQuery: GraphQLQuery, GeneratedOperation {"))
  }

  @Test("lists keep their nullability, and elements are named in the singular", .rule("generate.3"))
  func lists() throws {
    #expect(
      try properties("query A { shelves { pages } books { price related { id } } }") == [
        "shelves: [[Shelf?]]?", "books: [Book]", "pages: Int", "price: Double?", "related: [Related?]?", "id: ID",
      ])
  }

  @Test("fields of fragments are merged, and those of other types are in views", .rule("generate.3"))
  func views() throws {
    let found = try properties(
      """
      query A { search(by: {title: ""}) { ...W ... on Person { name } } }
      fragment W on Work { title ... on Recording { minutes } }
      """)
    #expect(
      found == [
        "search: [Search?]?", "asWork: AsWork?", "asPerson: AsPerson?", "title: String", "asRecording: AsRecording?",
        "fragments: Fragments", "title: String", "minutes: Int", "fragments: Fragments", "w: W", "w: W", "name: String",
        "title: String", "asRecording: AsRecording?", "title: String", "minutes: Int",
      ])
  }

  @Test("objects that only a fragment selects are of its type", .rule("generate.3"))
  func fragmentTypes() throws {
    let text = try Sample.text(
      "query A { books { ...B } } fragment B on Book { author { name } }")
    #expect(text.contains("typealias Author = B.Author"))
    #expect(text.contains("var author: Author? { fragments.b.author }"))
  }

  @Test("a fragment of a fragment is read once, and reached from both", .rule("generate.3"))
  func nestedFragments() throws {
    let text = try Sample.text("query A { books { ...B } } fragment B on Book { ...C } fragment C on Book { id }")
    #expect(text.contains("var c: C { b.fragments.c }"))
  }

  @Test("a field with a condition is optional, unless it is selected without one", .rule("generate.4"))
  func conditions() throws {
    let text = "query A($a: Boolean!) { books { title @include(if: $a) pages @skip(if: $a) id id @include(if: $a) } }"
    #expect(
      try properties(text) == ["a: Bool", "books: [Book]", "title: String?", "pages: Int?", "id: ID"])
  }

  @Test("a fragment with a condition is a view", .rule("generate.4"))
  func conditionalViews() throws {
    let found = try properties(
      """
      query A($a: Boolean!, $b: Boolean!) { node(id: 1) { id ... @include(if: $a) @skip(if: $b) { b: id } ... on Book @skip(if: $b) { pages } } }
      """)
    #expect(found.contains("ifAAndNotB: IfAAndNotB?"))
    #expect(found.contains("asBookIfNotB: AsBookIfNotB?"))
  }

  @Test("constant conditions are folded", .rule("generate.4"))
  func constants() throws {
    let found = try properties(
      """
      query A($a: Boolean!) { books { id @include(if: true) title @skip(if: true) ... @include(if: false) { pages }
        ... @skip(if: false) { price } genre @include(if: $a) @skip(if: $a) type @include(if: $a) } }
      """)
    #expect(found == ["a: Bool", "books: [Book]", "id: ID", "price: Double?", "type: GraphQLEnum<Type_Enum>?"])
  }

  @Test("a fragment with @defer is a property with a state", .rule("generate.5"))
  func deferred() throws {
    let text = try Sample.text(
      "query A { books { id ... @defer(label: \"more\") { pages } ...B @defer } } fragment B on Book { title }")
    #expect(text.contains("@Deferred var more: More?"))
    #expect(text.contains("@Deferred var b: B?"))
    #expect(!text.contains("  let title: String\n      let"))
  }

  @Test("the documents are listed in both formats of allow-lists", .rule("generate.10"))
  func persistedDocuments() throws {
    let document = "query A { books { id } } mutation B { addReview(review: {bookID: 1, stars: 1}) { text } }"
    let apollo = try Sample.file("list.json", document) { $0.persistedDocuments = .init(file: "list.json") }
    let operations = try #require(JSONValue(parsing: apollo)["operations"]?.array)
    #expect(operations.map { $0["name"] } == ["A", "B"])
    #expect(operations.map { $0["type"] } == ["query", "mutation"])
    #expect(operations.first?["body"] == "query A { books { __typename id } }")
    let texts = try Sample.file("list.json", document) { $0.persistedDocuments = .init(file: "list.json", format: .textsByID) }
    let byID = try #require(JSONValue(parsing: texts).object)
    #expect(byID.map(\.value) == operations.map { $0["body"] })
    #expect(byID.map { .string($0.key) } == operations.map { $0["id"] })
    #expect(try Sample.text(document).contains("static let documentHash = \"\(byID.keys[0])\""))
  }

  @Test("the document has its fragments and __typename, and its hash", .rule("generate.10"))
  func document() throws {
    let text = try Sample.text(
      "\"x\" query A(\"y\" $id: ID!) { book(id: $id) { ...B } }\nfragment B on Book { title(s: \"a\\\"\") }",
      schema: try Schema(parsing: "type Query { book(id: ID!): Book } type Book { title(s: String): Int }"))
    #expect(
      text.contains(
        ##"#"query A($id: ID!) { book(id: $id) { __typename ...B } } fragment B on Book { __typename title(s: "a\"") }"#"##))
  }

  @Test(
    "where a type narrows the field of an interface, the objects have the fields of both selections, in any order",
    .rule("generate.3"),
    arguments: [
      "node { id } ... on DepartureEdge { node { delay } }", "... on DepartureEdge { node { delay } } node { id }",
      "...F ... on DepartureEdge { node { delay } }", "node { id } ...G", "...F ...G",
      "node { id } ... on DepartureEdge { node { ...D } }", "node { ... on Node { id } } ... on DepartureEdge { node { delay } }",
      "node { id } ... on DepartureEdge { node @include(if: $x) { delay } }",
    ])
  func narrowedFields(_ selection: String) throws {
    let schema = try Schema(
      parsing: """
        type Query { edge: Edge } interface Node { id: ID! } interface Edge { node: Node }
        type Departure implements Node { id: ID! delay: Int } type DepartureEdge implements Edge { node: Departure }
        """)
    let isConditional = selection.contains("$x")
    var document = "query A\(isConditional ? "($x: Boolean!)" : "") { edge { \(selection) } }"
    for (name, fragment) in [
      ("F", "on Edge { node { id } }"), ("G", "on DepartureEdge { node { delay } }"), ("D", "on Departure { delay }"),
    ] where selection.contains("...\(name)") {
      document += " fragment \(name) \(fragment)"
    }
    let text = try Sample.text(document, schema: schema)
    let view = text.split(separator: "struct AsDepartureEdge: ").last ?? ""
    let node = view.split(separator: "struct Node: ").dropFirst().joined()
    let members = node.prefix { $0 != "}" }
    #expect(members.contains("let id: ID"), "\(text)")
    #expect(node.contains("let delay: Int?"), "\(text)")
  }
}
