internal import CCrypto

/// SHA-256 of bytes that arrive in pieces.
@safe
package struct SHA256Stream: ~Copyable {
  private let context: OpaquePointer?
  private var isValid: Bool

  package init() {
    unsafe context = EVP_MD_CTX_new()
    isValid = unsafe context != nil && EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Adds the next bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe isValid && !bytes.isEmpty else { return }
    isValid = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
  }

  /// Ends the stream.
  ///
  /// - Returns: The hash of all bytes, 32 bytes. If libcrypto fails, it is empty, so it never equals a real one.
  package mutating func finish() -> [UInt8] {
    guard isValid else { return [] }
    isValid = false
    return unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      count = unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1 ? Int(SHA256_DIGEST_LENGTH) : 0
    }
  }
}
