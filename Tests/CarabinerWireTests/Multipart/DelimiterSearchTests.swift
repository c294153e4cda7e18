import TestTools
import Testing

@testable import CarabinerWire

@Suite("The search for delimiters finds what a search byte by byte finds")
struct DelimiterSearchTests {
  /// The first place where the bytes from there on and the pattern are equal, up to the end of the shorter of both.
  static func reference(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> (place: Int, isFound: Bool) {
    for place in start..<max(start, bytes.count) where pattern.starts(with: bytes[place...].prefix(pattern.count)) {
      return (place, bytes.count - place >= pattern.count)
    }
    return (max(start, bytes.count), false)
  }

  static func expectSame(_ bytes: [UInt8], from start: Int, _ search: DelimiterSearch) {
    let (found, expected) = (search.first(in: bytes.span, from: start), reference(search.pattern, in: bytes, from: start))
    #expect(found == expected, "\(String(decoding: bytes, as: UTF8.self).debugDescription) from \(start)")
  }

  @Test("the delimiter at each place of texts of 0 to 200 bytes")
  func everyPlace() throws {
    let search = DelimiterSearch(try MultipartBoundary("b"))
    for length in 0...200 {
      let text = [UInt8](repeating: UInt8(ascii: "x"), count: length)
      for place in 0...length {
        Self.expectSame(text[..<place] + search.pattern + text[place...], from: 0, search)
      }
      Self.expectSame(text, from: 0, search)
      Self.expectSame(text, from: length + 1, search)
    }
  }

  @Test("each beginning of the delimiter at the end of texts of up to 1,200 bytes")
  func everyEnd() throws {
    let search = DelimiterSearch(try MultipartBoundary("boundary"))
    for length in 0...1200 {
      let text = [0x0A] + [UInt8](repeating: UInt8(ascii: "x"), count: length)
      for visible in 0...search.pattern.count { Self.expectSame(text + search.pattern.prefix(visible), from: 0, search) }
    }
  }

  @Test("4,000 random texts with few or many line feeds", arguments: [1, 2, 3, 4] as [UInt64])
  func random(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let search = DelimiterSearch(try MultipartBoundary("-b"))
    let alphabet = Array("xy-b\n".utf8)
    for _ in 0..<1000 {
      let letters = generator.chance(2) ? alphabet : Array(repeating: 0x78, count: 200) + alphabet
      let bytes = (0..<Int.random(in: 0..<4000, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? 0 }
      Self.expectSame(bytes, from: Int.random(in: 0...bytes.count, using: &generator), search)
    }
  }
}
