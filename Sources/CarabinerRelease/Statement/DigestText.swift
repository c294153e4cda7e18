/// A SHA-256 in 64 lower-case digits, the only notation that files about releases have.
enum DigestText {
  static let length = 64
  private static let alphabet = Array("0123456789abcdef".utf8)

  static func digits(of bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }, as: UTF8.self)
  }

  static func isDigest(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count == length && bytes.allSatisfy(alphabet.contains)
  }
}
