import CarabinerSchema
import CarabinerWire
import TestTools
import Testing

@Suite("Schemas: printing the schema definition language")
struct SchemaPrintingTests {
  private static let canonical = #"""
    """the schema"""
    schema @link(url: "https://example.com", tags: ["a", "b"]) {
      query: Start
      mutation: Change
    }

    """a directive"""
    directive @link(url: String!, tags: [String!] = ["x"]) repeatable on SCHEMA | OBJECT

    scalar Time @specifiedBy(url: "https://example.com/\"time\"")

    type Start implements Node & Named @link(url: "u") {
      id: ID!
      """
      First line

        indented line
      """
      name(
        """the language"""
        language: Language! = EN
        options: Options = {deep: {list: [1, 2.50, null, true]}} @deprecated(reason: "no")
      ): [[String!]]! @deprecated
    }

    interface Node {
      id: ID!
    }

    interface Named implements Node {
      id: ID!
      name: [[String!]]
    }

    type Change {
      empty: Boolean
    }

    union Any = Start | Change

    enum Language {
      """English"""
      EN
      DE @deprecated(reason: "später")
    }

    input Options {
      deep: Deep = {list: []}
    }

    input Deep @oneOf {
      list: [Float]
      deep: Deep
    }

    """#

  @Test("the canonical text is printed as it was read", .rule("schema.3"))
  func canonical() throws {
    #expect(try Schema(parsing: Self.canonical).text() == Self.canonical)
  }

  @Test("printing a generated schema and reading it again changes nothing", .rule("schema.3"), arguments: [1, 2, 3])
  func fixedPoint(seed: UInt64) throws {
    let schema = try Schema(parsing: GeneratedSchema.text(lines: 3_000, seed: seed))
    let text = schema.text()
    let again = try Schema(parsing: text)
    #expect(again == schema)
    #expect(again.text() == text)
    let sorted = schema.text(isSorted: true)
    #expect(try Schema(parsing: sorted) == schema)
    #expect(try Schema(parsing: sorted).text(isSorted: true) == sorted)
  }

  @Test("with sorting, the order of the definitions does not matter", .rule("schema.3"))
  func sorted() throws {
    let one = try Schema(
      parsing:
        "type Query implements B & A { b(y: Int x: Int): E a: Int } enum E { Z Y } input I { z: Int a: Int } union U = Query | A1"
    )
    let other = try Schema(
      parsing:
        "union U = A1 | Query input I { a: Int z: Int } enum E { Y Z } type Query implements A & B { a: Int b(x: Int y: Int): E }"
    )
    #expect(one.text() != other.text())
    #expect(one.text(isSorted: true) == other.text(isSorted: true))
    #expect(
      one.text(isSorted: true) == """
        enum E {
          Y
          Z
        }

        input I {
          a: Int
          z: Int
        }

        type Query implements A & B {
          a: Int
          b(x: Int, y: Int): E
        }

        union U = A1 | Query

        """)
  }

  @Test(
    "a description is the same after printing and reading", .rule("schema.3"),
    arguments: [
      "plain", "with \"quotes\"", "\"", "\"\"\"", "a \"\"\" b \"\"\"\" c", "ends with \"\"", "ends with \\", "\\\"\"\"",
      "back\\slash",
      "two\nlines", "windows\r\nlines", "carriage\rreturn", "\nbegins with a break", "ends with a break\n", "  indented",
      "  both\n  lines",
      "one\n    two\n  three", "one\n  \nthree", "one\n\n\nfour", " ", "tab\tinside", "emoji 🐈‍⬛ and é", "control \u{7} bell",
      "\u{2028}",
      String(repeating: "long ", count: 40), "nul \u{0} byte", "#hash", "\u{feff}mark",
    ])
  func descriptions(_ text: String) throws {
    let quoted = Self.quoted(text)
    let schema = try Schema(parsing: "\(quoted) type Query { \(quoted) a(\(quoted) x: Int): E } enum E { \(quoted) A }")
    #expect(schema.type(named: "Query")?.description == text)
    let printed = schema.text()
    let again = try Schema(parsing: printed)
    #expect(again.type(named: "Query")?.description.map { Array($0.utf8) } == Array(text.utf8))
    #expect(again.field("a", of: "Query")?.description.map { Array($0.utf8) } == Array(text.utf8))
    #expect(again.field("a", of: "Query")?.arguments.first?.description.map { Array($0.utf8) } == Array(text.utf8))
    #expect(again.type(named: "E")?.value(named: "A")?.description.map { Array($0.utf8) } == Array(text.utf8))
    #expect(again.text() == printed)
  }

  /// The text in quotes, with each character as an escape.
  private static func quoted(_ text: String) -> String {
    "\"\(text.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined())\""
  }

  @Test(
    "root types are printed if their names are not the usual ones, or a type has the usual name and is not a root type",
    .rule("schema.3"))
  func rootTypes() throws {
    #expect(try Schema(parsing: "schema { query: Query } type Query { a: Int }").text() == "type Query {\n  a: Int\n}\n")
    let text = "schema {\n  query: Query\n}\n\ntype Query {\n  a: Int\n}\n\ntype Mutation {\n  a: Int\n}\n"
    #expect(try Schema(parsing: text).text() == text)
    #expect(try Schema(parsing: text).rootType(of: .mutation) == nil)
  }
}
