internal import CCrypto

/// Hashes, by the system's libcrypto (decision 15).
///
/// Should libcrypto refuse, for want of memory or by a policy of the system's, the hash is empty, and so equal to no other.
package enum Digest {
  /// SHA-256 (FIPS 180-4), 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      count = unsafe SHA256(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Int(SHA256_DIGEST_LENGTH)
    }
  }

  /// SHA-1, 20 bytes; for protocols that want it, and for nothing that must hold against an attacker.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { digest, count in
      count = unsafe SHA1(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Int(SHA_DIGEST_LENGTH)
    }
  }

  /// HMAC-SHA256 (RFC 2104), 32 bytes.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    // An empty array may have no address, which HMAC takes for "the key of last time".
    let keyBytes = key.isEmpty ? [0] : key
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      let code = unsafe HMAC(EVP_sha256(), keyBytes, Int32(key.count), bytes, bytes.count, digest.baseAddress, nil)
      count = unsafe code == nil ? 0 : Int(SHA256_DIGEST_LENGTH)
    }
  }

  /// Compares in a time that does not tell where two codes differ.
  package static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe CRYPTO_memcmp(one, other, one.count) == 0
  }
}
