import Testing

@testable import CarabinerConformance

@Suite("The search for secrets")
struct SecretSearchTests {
  private static let secret = "q7TzW0pLkX2vRb9sYc4HnE8dJm1uGfAa3iKo5VtZ"

  private func found(_ bytes: [UInt8]) -> String? {
    var search = SecretSearch()
    search.add("the token", Self.secret)
    return search.find(in: bytes)
  }

  private func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { byte in [byte >> 4, byte & 15].flatMap { Array(String($0, radix: 16).utf8) } }
  }

  private func base64(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return stride(from: 0, to: bytes.count - 2, by: 3).flatMap { index -> [UInt8] in
      let word = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
      return [18, 12, 6, 0].map { digits[word >> $0 & 63] }
    }
  }

  @Test("a secret is found as it is, in any case of letters, and cut to eight bytes")
  func plain() {
    #expect(found(Array("Bearer \(Self.secret)".utf8)) == "the token")
    #expect(found(Array(Self.secret.lowercased().utf8)) == "the token")
    #expect(found(Array("token \(Self.secret.prefix(8))…".utf8)) == "the token")
    #expect(found(Array("token \(Self.secret.suffix(8))".utf8)) == "the token")
  }

  @Test("seven bytes of a secret are not enough", arguments: ["q7TzW0p", "3iKo5Vt"])
  func short(_ part: String) { #expect(found(Array("token \(part)".utf8)) == nil) }

  @Test(
    "a secret is found backwards, and with each byte changed by the same number",
    arguments: [1, 0x20, 0x5A, 0x9D, 0xFF] as [UInt8])
  func changed(_ number: UInt8) {
    let bytes = Array(Self.secret.utf8)
    for words in [bytes, bytes.reversed()] {
      #expect(found(words) != nil)
      #expect(found(words.map { $0 ^ number })?.contains("changed by the same number") == true)
      #expect(found(words.map { $0 &+ number })?.contains("changed by the same number") == true)
    }
  }

  @Test("a secret in base64 or hexadecimal digits is found at any place of a text", arguments: 0..<4)
  func digits(_ shift: Int) {
    let prefix = Array("abcd".utf8.prefix(shift))
    for words in [Array(Self.secret.utf8), Self.secret.utf8.reversed(), Self.secret.utf8.map { $0 ^ 0x77 }] {
      #expect(found(base64(prefix + words + [0, 0]))?.contains("base64") == true)
      #expect(found(hexadecimal(prefix + words))?.contains("hexadecimal") == true)
      // Digits of another text can come first.
      #expect(found(prefix + base64(words + [0, 0])) != nil)
      #expect(found(prefix + hexadecimal(words)) != nil)
    }
  }

  @Test(
    "no secret is found in other texts",
    arguments: [
      "", " ", "        ", "aaaaaaaaaaaaaaaaaaaaaaaa", "abcdefghijklmnopqrstuvwxyz0123456789",
      "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "GET /graphql 200 in 12 ms, 4 of 7 books",
      String(repeating: "0", count: 4096),
    ])
  func others(_ text: String) { #expect(found(Array(text.utf8)) == nil) }

  @Test("finds a secret in pieces of several texts, and between other characters")
  func pieces() {
    let secret = "tR7kPq29LmZxWc84"
    var search = SecretSearch()
    search.add("the token", secret)
    let letters = secret.enumerated().map { Array("letter \($0.offset): \($0.element)".utf8) }
    #expect(search.find(inPieces: letters)?.contains("in pieces") == true)
    let dashed = secret.map { String($0) }.joined(separator: "-")
    #expect(search.find(inPieces: [Array("refused: \(dashed)".utf8)])?.contains("the token") == true)
    #expect(search.find(inPieces: [Array("a request with 16 fields".utf8), Array("another one".utf8)]) == nil)
  }
}
