import Testing

@testable import CarabinerWire

@Suite("Names of members")
struct ExactNameTests {
  @Test("names that have one normal form have many hashes, so no object of them takes quadratic time")
  func normalForms() {
    // Each letter has one of two encodings, which `String` treats as equal.
    let names = (0..<1024).map { number in
      String(
        String.UnicodeScalarView((0..<10).flatMap { number >> $0 & 1 == 0 ? "\u{E9}".unicodeScalars : "e\u{301}".unicodeScalars })
      )
    }
    #expect(Set(names).count == 1)
    #expect(Set(names.map { ExactName(name: $0) }).count == names.count)
    #expect(Set(names.map { ExactName(name: $0).hashValue }).count > 1000)
  }

  @Test("a hash depends on each byte and on the length", arguments: [1, 7, 8, 9, 16, 23])
  func bytes(_ count: Int) {
    let names = (0..<count).flatMap { place in
      (1...20).map { letter in String(decoding: (0..<count).map { $0 == place ? UInt8(letter) : 0 }, as: UTF8.self) }
    }
    let lengths = (0..<32).map { String(repeating: "\0", count: $0) }
    #expect(Set(names.map { ExactName(name: $0).hashValue }).count == names.count)
    #expect(Set(lengths.map { ExactName(name: $0).hashValue }).count == lengths.count)
  }
}
