internal import CCrypto

/// Hash functions of the system's libcrypto.
///
/// If libcrypto fails, for example for lack of memory or by a system policy, the hash is empty, so it never equals a real one.
package enum Digest {
  /// SHA-256 (FIPS 180-4), 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      count = unsafe SHA256(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Int(SHA256_DIGEST_LENGTH)
    }
  }

  /// SHA-512 (FIPS 180-4), 64 bytes.
  package static func sha512(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA512_DIGEST_LENGTH)) { digest, count in
      count = unsafe SHA512(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Int(SHA512_DIGEST_LENGTH)
    }
  }

  /// SHA-1, 20 bytes. It is only for protocols that require it, and not safe against attackers.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { digest, count in
      count = unsafe SHA1(bytes, bytes.count, digest.baseAddress) == nil ? 0 : Int(SHA_DIGEST_LENGTH)
    }
  }

  /// HMAC-SHA256 (RFC 2104), 32 bytes.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    // An empty array may have no address, and HMAC then uses the previous key.
    let keyBytes = key.isEmpty ? [0] : key
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      let code = unsafe HMAC(EVP_sha256(), keyBytes, Int32(key.count), bytes, bytes.count, digest.baseAddress, nil)
      count = unsafe code == nil ? 0 : Int(SHA256_DIGEST_LENGTH)
    }
  }

  /// Compares two codes in constant time.
  package static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe CRYPTO_memcmp(one, other, one.count) == 0
  }
}
