internal import CCrypto

/// A public key as libcrypto has it.
@safe
struct PublicKeyHandle: ~Copyable {
  private let key: OpaquePointer
  /// The hash that is a part of the method; nil for Ed25519, which has its own.
  private let hash: OpaquePointer?

  /// - Returns: nil if the key does not have the form of its method, or if libcrypto fails.
  init?(_ key: Signature.PublicKey) {
    let made: OpaquePointer?
    switch key {
    case .ed25519(let bytes):
      unsafe made = bytes.count == 32 ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) : nil
      unsafe hash = nil
    case .p256(let point):
      unsafe made = point.count == 65 && point[0] == 4 ? CCrypto_curveKey(point, point.count) : nil
      unsafe hash = EVP_sha256()
    }
    guard let made = unsafe made else {
      ERR_clear_error()
      return nil
    }
    unsafe self.key = made
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Whether a signature, in the form that libcrypto expects, is one of the bytes.
  func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    let isValid =
      unsafe EVP_DigestVerifyInit(context, nil, hash, nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    // Errors stay in a queue of the thread, where the TLS of libcurl would find them.
    if !isValid { ERR_clear_error() }
    return isValid
  }
}
