import CarabinerWire
import TestTools
import Testing

@Suite("Sizes and costs of operations")
struct DocumentMeasuresTests {
  private func measures(_ text: String) throws -> DocumentMeasures {
    try DocumentMeasures(GraphQLDocument(parsing: text), listArguments: ["first", "last", "limit"])
  }

  private func size(_ text: String) throws -> OperationSize { try #require(measures(text).operations.first).size }

  private func cost(_ text: String, _ variables: JSONObject = [:]) throws -> Int {
    let measures = try measures(text)
    return measures.cost(of: try #require(measures.operations.first), variables: variables)
  }

  @Test(
    "depth, fields, root fields, aliases and directives are counted, and fragments where they are spread", .rule("gateway.23"))
  func sizes() throws {
    let plain = try size("query ($a: Int @d) @d { x: a @include(if: true) { b c } ... on T @d { e } }")
    #expect(plain.depth == 2 && plain.fields == 4 && plain.rootFields == 2 && plain.aliases == 1 && plain.directives == 4)
    let spread = try size("{ a { ...f ...f } ...f @d } fragment f on T @d { x: b { c } d }")
    #expect(spread.depth == 3 && spread.fields == 10 && spread.rootFields == 3 && spread.aliases == 3 && spread.directives == 4)
    #expect(!plain.usesIntrospection && !spread.usesIntrospection)
    #expect(try size("{ __typename a }").usesIntrospection == false)
    #expect(try size("{ ...f } fragment f on Query { s: __schema { types { name } } }").usesIntrospection)
    #expect(try size(#"{ __type(name: "T") { name } }"#).usesIntrospection)
  }

  @Test("each operation of a document is measured on its own", .rule("gateway.23"))
  func operations() throws {
    let both = try measures("query a { a } query b { b { c } ...f } fragment f on T { d }").operations
    #expect(both.map(\.size.fields) == [1, 3])
  }

  @Test(
    "a field costs one, times the integer arguments of the fields above it", .rule("gateway.23"),
    arguments: [
      ("{ a b { c } }", 3), ("{ a(first: 10) { b { c } } }", 21), ("{ a(first: 10) { b(last: 5) { c } } }", 61),
      ("{ a(first: 10, limit: 2) { b } }", 21), ("{ a(other: 10) { b } }", 2), ("{ a(first: 0) { b } }", 2),
      ("{ a(first: -5) { b } }", 2), ("{ a(first: null) { b } }", 2), ("{ a(first: 10) { ...f } } fragment f on T { b c }", 21),
      ("{ a(first: \"10\") { b { c } } }", 21), ("{ a(first: \"ten\") { b } }", 2), ("{ a(first: TEN) { b } }", 2),
      ("{ a(first: 10) { ... on T { b } ... { c } } }", 21), ("{ a(first: 99999999999999999999) { b } }", 1 << 53),
    ])
  func costs(_ text: String, _ expected: Int) throws {
    #expect(try cost(text) == expected)
  }

  @Test("variables count with their values, or with their default values", .rule("gateway.23"))
  func variables() throws {
    let text = "query ($n: Int = 3) { a(first: $n) { b(first: 2) { c } ...f } } fragment f on T { d(limit: $n) { e } }"
    // a, and n times: b, two c, d, and n e.
    #expect(try cost(text, ["n": 10]) == 1 + 10 * (1 + 2 + 1 + 10))
    #expect(try cost(text) == 1 + 3 * (1 + 2 + 1 + 3))
    #expect(try cost(text, ["n": .null]) == 6)
    #expect(try cost(text, ["n": .number(JSONNumber(1_000_000))]) > 1000)
    #expect(try cost("query ($n: Int) { a(first: $n) { b } }") == 2)
    let huge = try #require(JSONNumber(lexeme: "1e400"))
    #expect(try cost(text, ["n": .number(huge)]) == 1 << 53)
  }

  @Test(
    "text counts as a number, because some servers take it for one", .rule("gateway.23"),
    arguments: [
      ("10", 11), (" +10\n", 11), ("010", 11), ("1e1", 11), ("10.0", 11), ("0xA", 11), ("1_0", 11), ("１０", 11), ("١٠", 11),
      ("1e400", 1 << 53), ("Infinity", 1 << 53), ("-10", 2), ("0.5", 2), ("", 2), ("ten", 2), ("10 or so", 2), ("nan", 2),
    ])
  func text(_ text: String, _ expected: Int) throws {
    #expect(try cost("query ($n: Int) { a(first: $n) { b } }", ["n": .string(text)]) == expected)
  }

  @Test("counts of fragments that each spread the next one twice saturate at 2^53", .rule("gateway.23"))
  func doubling() throws {
    var text = "query ($n: Int) { ...f0 }"
    for index in 0..<30 { text += " fragment f\(index) on T { ...f\(index + 1) ...f\(index + 1) }" }
    let thirty = try size(text + " fragment f30 on T { x: a @d { b } }")
    #expect(thirty.fields == 2 << 30 && thirty.aliases == 1 << 30 && thirty.depth == 2)
    for index in 30..<100 { text += " fragment f\(index) on T { ...f\(index + 1) ...f\(index + 1) }" }
    text += " fragment f100 on T { x: a(first: $n) @d { b } }"
    let hundred = try size(text)
    #expect(hundred.fields == 1 << 53 && hundred.rootFields == 1 << 53 && hundred.directives == 1 << 53)
    #expect(try cost(text, ["n": 2]) == 1 << 53)
  }

  @Test("a document whose fragments form a chain of thousands is measured without a deep recursion", .rule("gateway.23"))
  func chain() throws {
    let count = 9000
    var text = "{ ...f0 }"
    for index in 0..<count { text += " fragment f\(index) on T { a { ...f\(index + 1) } }" }
    #expect(try size(text + " fragment f\(count) on T { b }").depth == count + 1)
  }

  @Test(
    "fragments that spread themselves, and two fragments of one name, are refused", .rule("gateway.23"),
    arguments: [
      ("{ ...a } fragment a on T { ...a }", DocumentMeasures.Fault.cycle("a")),
      ("{ ...a } fragment a on T { b { ...c } } fragment c on T { ... { ...a } }", .cycle("a")),
      ("{ ...a } fragment a on T { b } fragment a on T { c }", .duplicateFragment("a")),
    ])
  func faults(_ text: String, _ fault: DocumentMeasures.Fault) {
    #expect(throws: fault) { try measures(text) }
  }

  @Test("tokens do not change with white space, commas and comments, and change with order and strings", .rule("gateway.22"))
  func tokens() throws {
    let tokens = try GraphQLTokens(of: #"query q($a: Int, $b: [Int!]) { f(x: $a, y: "a  b") @d ... on T { g } }"#)
    let other = try GraphQLTokens(of: "\u{FEFF}query q ( $a:Int$b:[Int!] ) # comment }\n{f(x:$a y:\"a  b\")@d...on T{g}}")
    #expect(tokens == other && tokens.count == 35)
    #expect(try GraphQLTokens(of: "{ a b }") != GraphQLTokens(of: "{ b a }"))
    #expect(try GraphQLTokens(of: "{ a b }") != GraphQLTokens(of: "{ ab }"))
    #expect(try GraphQLTokens(of: #"{ a(x: "1 2") }"#) != GraphQLTokens(of: #"{ a(x: "1  2") }"#))
    #expect(throws: GraphQLSyntaxError.self) { try GraphQLTokens(of: "{ a(x: \"1) }") }
    #expect(throws: GraphQLSyntaxError.self) { try GraphQLTokens(of: "{ a }", maximumBytes: 4) }
  }
}
