import CarabinerWire
import Testing

@Suite("Bytes of header names")
struct TokenByteTests {
  @Test("a name has letters, digits and fifteen other characters, and no other byte")
  func all() {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    let expected = Set("\(letters)!#$%&'*+-.^_`|~".utf8)
    #expect(expected.count == 77)
    #expect(Set((0...UInt8.max).filter(\.isTokenByte)) == expected)
  }
}
