import CarabinerSchema
import TestTools
import Testing

@Suite("Schemas: the limits of reading")
struct SchemaLimitsTests {
  @Test("a text that is too large is refused before it is read, also as a part of several", .rule("schema.6"))
  func tooLarge() {
    #expect(throws: SchemaError.self) { try Schema(parsing: "type T { a: Int }", limits: SchemaLimits(maximumBytes: 10)) }
    let error = #expect(throws: SchemaError.self) {
      try Schema(
        parsing: [SchemaSource(file: "a", text: "type T { a: Int }"), SchemaSource(file: "b", text: "type U { a: Int }")],
        limits: SchemaLimits(maximumBytes: 20))
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.location?.file == "b")
  }

  @Test("200 MB of braces are refused, by their size, and shorter ones by the grammar", .rule("schema.6"))
  func braces() {
    let text = String(decoding: [UInt8](repeating: UInt8(ascii: "{"), count: 200_000_000), as: UTF8.self)
    let error = #expect(throws: SchemaError.self) { try Schema(parsing: text) }
    #expect(error?.code == .tooLarge)
    let short = String(repeating: "{", count: 1_000)
    #expect(throws: SchemaError.self) { try Schema(parsing: short, limits: SchemaLimits(maximumBytes: 1 << 30)) }
  }

  @Test(
    "types and values that are nested too deep are refused", .rule("schema.6"),
    arguments: [
      "type T { a: \(String(repeating: "[", count: 10_000))Int\(String(repeating: "]", count: 10_000)) }",
      "type T { a(x: I = \(String(repeating: "[", count: 10_000))\(String(repeating: "]", count: 10_000))): Int }",
      "type T @d(x: \(String(repeating: "{a:", count: 10_000))1\(String(repeating: "}", count: 10_000)))",
    ])
  func depth(_ text: String) {
    let error = #expect(throws: SchemaError.self) { try Schema(parsing: text) }
    #expect(error?.code == .tooDeep)
  }

  @Test("the deepest list type is read and printed", .rule("schema.6"))
  func deepestList() throws {
    let depth = Schema.TypeReference.maximumListDepth
    let type = String(repeating: "[", count: depth) + "Int!" + String(repeating: "]!", count: depth)
    let schema = try Schema(parsing: "type Query { a: \(type) }")
    #expect(schema.field("a", of: "Query")?.type.description == type)
    #expect(schema.field("a", of: "Query")?.type.isNonNull == true)
  }

  @Test("a million extensions are refused by the limit of tokens, and a hundred thousand are read", .rule("schema.6"))
  func extensions() throws {
    let text = { String(repeating: "extend type T @d\n", count: $0) + "type T { a: Int }" }
    let error = #expect(throws: SchemaError.self) { try Schema(parsing: text(1_000_000)) }
    #expect(error?.code == .tooLarge)
    #expect(try Schema(parsing: text(100_000)).type(named: "T")?.appliedDirectives.count == 100_000)
  }

  @Test("the limit of tokens is for all texts together", .rule("schema.6"))
  func tokens() {
    let source = SchemaSource(file: "a", text: "extend type T { a: Int }")
    #expect(throws: SchemaError.self) { try Schema(parsing: [source, source], limits: SchemaLimits(maximumTokens: 10)) }
    #expect(throws: Never.self) { try Schema(parsing: [source, source], limits: SchemaLimits(maximumTokens: 40)) }
  }
}
