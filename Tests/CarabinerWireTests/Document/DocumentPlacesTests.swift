import CarabinerWire
import Testing

/// The places of the parts of a document.
@Suite("Places in documents")
struct DocumentPlacesTests {
  private func places(_ text: String) throws -> (definitions: [String], selections: [String]) {
    let places = try GraphQLDocument.parsingWithPlaces(text).places
    return (places.definitions.map { "\($0.line):\($0.column)" }, places.selections.map { "\($0.line):\($0.column)" })
  }

  @Test("a field comes before its own selections, and a fragment where it is spread")
  func order() throws {
    let (definitions, selections) = try places("query A {\n  a { b ...F }\n  x: c\n}\nfragment F on T { ... on U { d } }")
    #expect(definitions == ["1:1", "5:1"])
    #expect(selections == ["2:3", "2:7", "2:9", "3:3", "5:19", "5:30"])
  }

  @Test("columns count characters and lines end with CR LF, CR or LF")
  func characters() throws {
    let (_, selections) = try places("{\r\n a(t: \"ü🙂\") b\rc\n\n  d }")
    #expect(selections == ["2:2", "2:13", "3:1", "5:3"])
  }

  @Test("the document is the one the plain reader gives, and so are the errors")
  func same() throws {
    let text = "query Q($a: Int = 1) @d { a(x: $a) @skip(if: true) { b } }"
    #expect(try GraphQLDocument.parsingWithPlaces(text).document == GraphQLDocument(parsing: text))
    #expect(throws: GraphQLSyntaxError.self) { try GraphQLDocument.parsingWithPlaces("{ a ") }
    let small = GraphQLLimits(maximumBytes: 4)
    let error = #expect(throws: GraphQLSyntaxError.self) { try GraphQLDocument.parsingWithPlaces("{ abc }", limits: small) }
    #expect(error?.code == .tooLarge)
  }
}
