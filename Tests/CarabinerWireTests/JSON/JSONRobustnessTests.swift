import CarabinerWire
import TestTools
import Testing

@Suite("No bytes make the JSON readers trap or disagree")
struct JSONRobustnessTests {
  static let sample = #"""
    {"data":{"hero":{"name":"R2-D2 é 😀 \ud83d\ude00","height":-1.50e+3,"friends":[{"id":"1"},null,true,false]}},
     "errors":[{"message":"no\n\u0041","path":["hero",0]}],"extensions":{}}
    """#

  @Test("every prefix is refused, within the prefix")
  func prefixes() {
    let bytes = Array(Self.sample.utf8)
    for length in 0..<bytes.count {
      do throws(JSONError) {
        let value = try JSONValue(parsing: Array(bytes[..<length]))
        Issue.record("a prefix of \(length) bytes was read as \(value)")
      } catch {
        #expect(error.offset <= length)
        #expect(error.code == .unexpectedEnd || error.code == .invalidUTF8)
      }
    }
  }

  @Test("40,000 random mutations never trap, and both readers agree", arguments: [1, 2, 3, 4] as [UInt64])
  func mutations(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]",:\ue+-.0129ntf /"#.utf8) + [0x80, 0xC3, 0xED, 0xF0, 0xEF]
    let original = Array(Self.sample.utf8)
    var accepted = 0
    for _ in 0..<10_000 {
      let bytes = generator.mutate(original, alphabet: alphabet)
      let tree = Result { () throws(JSONError) in try JSONTree(parsing: bytes.span) }
      let members = Result { () throws(JSONError) in try JSONMembers(locating: bytes.span) }
      switch (tree, members) {
      case (.success(let tree), .success(let members)):
        accepted += 1
        #expect(members.names == tree.value.object?.keys ?? [])
        #expect((try? JSONValue(parsing: tree.value.serialized())) == tree.value)
      case (.failure(let one), .failure(let other)):
        #expect(one == other)
        #expect((0...bytes.count).contains(one.offset))
      default: Issue.record("only one reader accepts \(String(decoding: bytes, as: UTF8.self))")
      }
    }
    #expect(accepted > 100)
  }

  @Test("random values are equal after writing and reading, in any spelling")
  func roundTrip() throws {
    var random = RandomJSON(seed: 11)
    for _ in 0..<2000 {
      let value = random.value()
      #expect(try JSONValue(parsing: random.text(value)) == value)
      #expect(try JSONValue(parsing: value.serialized()) == value)
      #expect(try JSONValue(parsing: value.serialized(sortedKeys: true, pretty: true)) == value)
      #expect(value.description == (try JSONValue(parsing: value.description)).description)
    }
  }
}
