import CarabinerDigest
import TestTools
import Testing

/// Keys and signatures of the standards.
@Suite("Signatures")
struct SignatureTests {
  private func bytes(_ digits: String) -> [UInt8] {
    let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }

  /// RFC 8032, 7.1, test 2.
  private let edwardsKey = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
  private let edwardsSignature =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"

  /// RFC 6979, A.2.5, "sample" with SHA-256.
  private let curveKey =
    "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
  private let curveSignature =
    "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
    + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"

  @Test("a signature of Ed25519 is valid for its bytes and key only, whichever bit is changed", .rule("signature.3"))
  func edwards() {
    let (key, signature) = (bytes(edwardsKey), bytes(edwardsSignature))
    #expect(Signature.verify(signature, of: [0x72], key: .ed25519(key)))
    #expect(!Signature.verify(signature, of: [0x73], key: .ed25519(key)))
    #expect(!Signature.verify(signature, of: [], key: .ed25519(key)))
    for bit in 0..<512 {
      #expect(!Signature.verify(signature.flipping(bit), of: [0x72], key: .ed25519(key)))
      if bit < 256 { #expect(!Signature.verify(signature, of: [0x72], key: .ed25519(key.flipping(bit)))) }
    }
  }

  @Test("a signature of ECDSA on P-256 is valid for its bytes and key only, whichever bit is changed", .rule("signature.3"))
  func curve() {
    let (key, signature) = (bytes(curveKey), bytes(curveSignature))
    let sample = Array("sample".utf8)
    #expect(Signature.verify(signature, of: sample, key: .p256(key)))
    #expect(!Signature.verify(signature, of: sample + [0], key: .p256(key)))
    for bit in 0..<512 { #expect(!Signature.verify(signature.flipping(bit), of: sample, key: .p256(key))) }
    for bit in 0..<520 { #expect(!Signature.verify(signature, of: sample, key: .p256(key.flipping(bit)))) }
  }

  @Test("keys and signatures of another length, of zeros and of ones are not valid", .rule("signature.3"))
  func lengths() {
    let (edwards, curve) = (bytes(edwardsKey), bytes(curveKey))
    for length in 0..<70 {
      for byte: UInt8 in [0, 0xff] {
        let other = [UInt8](repeating: byte, count: length)
        #expect(!Signature.verify(other, of: [0x72], key: .ed25519(edwards)))
        #expect(!Signature.verify(other, of: [0x72], key: .p256(curve)))
        #expect(!Signature.verify(bytes(edwardsSignature), of: [0x72], key: .ed25519(other)))
        #expect(!Signature.verify(bytes(curveSignature), of: Array("sample".utf8), key: .p256(other)))
      }
    }
    #expect(!Signature.verify(bytes(edwardsSignature) + [0], of: [0x72], key: .ed25519(edwards)))
    #expect(!Signature.verify(Array(bytes(curveSignature).dropLast()), of: Array("sample".utf8), key: .p256(curve)))
  }
}

extension [UInt8] {
  fileprivate func flipping(_ bit: Int) -> [UInt8] {
    var bytes = self
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    return bytes
  }
}
