/// Signatures, checked by the system's libcrypto.
///
/// This type cannot sign, so no private key is ever read.
package enum Signature {
  /// A public key, with the method that it is for.
  package enum PublicKey: Sendable, Hashable {
    /// Ed25519 (RFC 8032), 32 bytes. Its signatures have 64 bytes.
    case ed25519([UInt8])
    /// ECDSA on the curve P-256 with SHA-256: a point of 65 bytes that begins with 4. Its signatures are r and s, 32 bytes each.
    case p256([UInt8])
  }

  /// Whether a signature of the bytes was made with the key.
  ///
  /// The result is false for a key or signature of another length, and if libcrypto fails, for example by a system policy.
  package static func verify(_ signature: [UInt8], of bytes: [UInt8], key: PublicKey) -> Bool {
    guard signature.count == 64, let handle = PublicKeyHandle(key) else { return false }
    switch key {
    case .ed25519: return handle.verifies(signature, of: bytes)
    case .p256: return handle.verifies(encoded(r: signature[..<32], s: signature[32...]), of: bytes)
    }
  }

  /// The DER form of an ECDSA signature. All lengths are below 128, so each is one byte.
  private static func encoded(r: ArraySlice<UInt8>, s: ArraySlice<UInt8>) -> [UInt8] {
    let numbers = integer(r) + integer(s)
    return [0x30, UInt8(numbers.count)] + numbers
  }

  private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }
}
