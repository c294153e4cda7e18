import CarabinerDigest
import TestTools
import Testing

@Suite("Digests")
struct DigestTests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// FIPS 180-4's examples, the empty text, and a million letters.
  @Test(
    "SHA-256 hashes the examples of its standard",
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func sha256(text: String, times: Int, digest: String) {
    #expect(hexadecimal(Digest.sha256(Array(String(repeating: text, count: times).utf8))) == digest)
  }

  /// FIPS 180-4's example, and the empty text.
  @Test(
    "SHA-512 hashes the examples of its standard", .rule("signature.3"),
    arguments: [
      (
        "",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
      ),
      (
        "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ])
  func sha512(text: String, digest: String) {
    #expect(hexadecimal(Digest.sha512(Array(text.utf8))) == digest)
  }

  @Test(
    "SHA-1 hashes the examples of its standard",
    arguments: [
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ])
  func sha1(text: String, digest: String) {
    #expect(hexadecimal(Digest.sha1(Array(text.utf8))) == digest)
  }

  /// RFC 4231, cases 1, 2 and 6 (a key longer than a block); and no key, no text.
  @Test(
    "HMAC-SHA256 signs the examples of its standard",
    arguments: [
      ([UInt8](repeating: 0x0b, count: 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
      (Array("Jefe".utf8), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
      (
        [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
  func hmac(key: [UInt8], text: String, code: String) {
    #expect(hexadecimal(Digest.hmacSHA256(Array(text.utf8), key: key)) == code)
  }

  @Test("Codes are equal if all their bytes are, and there are as many")
  func equality() {
    #expect(Digest.isEqual([1, 2, 3], [1, 2, 3]))
    #expect(!Digest.isEqual([1, 2, 3], [1, 2, 4]))
    #expect(!Digest.isEqual([1, 2, 3], [1, 2]))
    #expect(Digest.isEqual([], []))
  }
}
