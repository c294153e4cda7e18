import CarabinerWire
import TestTools
import Testing

@Suite("No text makes the document reader trap, and printing loses nothing")
struct DocumentRobustnessTests {
  @Test("2,000 random documents: read, printed and read again they are equal", arguments: [false, true])
  func roundTrip(describes: Bool) throws {
    var random = RandomDocument(seed: 3, describes: describes)
    for _ in 0..<1000 {
      let text = random.document()
      let document = try GraphQLDocument(parsing: text)
      let printed = document.description
      #expect(try GraphQLDocument(parsing: printed) == document)
      #expect(try GraphQLDocument(parsing: printed).description == printed)
    }
  }

  @Test("printed documents are indented")
  func layout() throws {
    let text = """
      query Q($a: [Int!]! = [1], $b: T = {c: "\\"\\n"} @d) @live {
        x: y(a: $a, b: RED) @include(if: true) {
          ...F @skip(if: false)
          ... on T {
            z
          }
          ... @e {
            w
          }
        }
      }

      {
        anonymous
      }

      query ($a: Int) {
        a
      }

      fragment F on T @f {
        a
      }
      """
    #expect(try GraphQLDocument(parsing: text).description == text)
  }

  @Test("every prefix of a document is refused or read, and never traps")
  func prefixes() {
    var random = RandomDocument(seed: 5)
    for _ in 0..<30 {
      let bytes = Array(random.document().utf8)
      for length in 0..<bytes.count {
        let prefix = Array(bytes[..<length])
        do throws(GraphQLSyntaxError) {
          let document = try GraphQLDocument(parsing: prefix.span)
          #expect(!document.definitions.isEmpty)
        } catch {
          #expect(error.offset <= length)
          #expect(error.line >= 1 && error.column >= 1)
        }
      }
    }
  }

  @Test(
    "20,000 random mutations never trap, and what is read can be printed",
    arguments: [1, 2, 3, 4] as [UInt64])
  func mutations(seed: UInt64) throws {
    var random = RandomDocument(seed: seed)
    let alphabet = Array(#"{}[]()"":$!=@.#\u-+019eé, "#.utf8) + [0x0A, 0x0D, 0x80, 0xEF]
    var (accepted, refused) = (0, 0)
    for _ in 0..<5000 {
      let bytes = random.generator.mutate(Array(random.document().utf8), alphabet: alphabet)
      do throws(GraphQLSyntaxError) {
        let document = try GraphQLDocument(parsing: bytes.span)
        accepted += 1
        #expect(try GraphQLDocument(parsing: document.description) == document)
      } catch {
        refused += 1
        #expect((0...bytes.count).contains(error.offset))
      }
    }
    #expect(accepted > 200)
    #expect(refused > 200)
  }
}
