internal import CarabinerDigest

/// One signature that `ssh-keygen -Y sign` made (OpenSSH's PROTOCOL.sshsig).
package struct SSHSignature: Sendable, Hashable {
  /// The namespace of all signatures of releases, so that signatures for other purposes, such as of commits, are never one.
  package static let namespace = "carabiner-release"
  /// Far above the size of any supported signature, in its binary form.
  static let maximumBytes = 4 << 10

  private enum Hash: String {
    case sha256, sha512

    func digest(_ bytes: [UInt8]) -> [UInt8] {
      switch self {
      case .sha256: Digest.sha256(bytes)
      case .sha512: Digest.sha512(bytes)
      }
    }
  }

  private static let mark = "SSHSIG"
  private static let version = 1

  /// The key that the signature says it was made with. Any key can be written there, so it must be one of the trust file.
  package let key: SSHPublicKey
  private let hash: Hash
  /// As libcrypto's methods have it, 64 bytes.
  private let signature: [UInt8]

  /// Reads a signature.
  ///
  /// - Throws: ``ReleaseError`` with the code `signature` if the form, the type of the key or the namespace is wrong.
  package init(parsing bytes: [UInt8]) throws(ReleaseError) {
    var reader = SSHReader(bytes)
    guard bytes.count <= Self.maximumBytes, reader.skip(Self.mark), reader.number() == Self.version,
      // The third text is reserved. OpenSSH ignores it, and signs an empty one.
      let keyForm = reader.bytes(), let namespace = reader.text(), reader.bytes() != nil, let hashName = reader.text(),
      let signatureForm = reader.bytes(), reader.isAtEnd
    else { throw Self.malformed }
    guard let key = SSHPublicKey(keyForm) else {
      let name = SSHPublicKey.methodName(of: keyForm) ?? "no type"
      throw ReleaseError(
        .signature,
        "a signature has a key of the type \(name), or a malformed one; sign with a key of ssh-ed25519 or "
          + "ecdsa-sha2-nistp256")
    }
    guard namespace == Self.namespace else {
      throw ReleaseError(
        .signature,
        "a signature is for the namespace \(namespace.prefix(64)), not \(Self.namespace); sign with ssh-keygen -Y sign -n "
          + Self.namespace)
    }
    guard let hash = Hash(rawValue: hashName) else {
      throw ReleaseError(.signature, "a signature has the hash \(hashName.prefix(64)); use sha512 or sha256")
    }
    guard let signature = Self.signature(signatureForm, key.method) else { throw Self.malformed }
    self.key = key
    self.hash = hash
    self.signature = signature
  }

  /// Whether the signature is one of these bytes, made with ``key``.
  package func isValid(of bytes: [UInt8]) -> Bool {
    Signature.verify(signature, of: signedBytes(of: bytes), key: key.key)
  }

  /// The bytes that the method signs: they name the purpose, and have the hash of the bytes.
  package func signedBytes(of bytes: [UInt8]) -> [UInt8] {
    Array(Self.mark.utf8) + SSHReader.form(Self.namespace.utf8) + SSHReader.form([]) + SSHReader.form(hash.rawValue.utf8)
      + SSHReader.form(hash.digest(bytes))
  }

  private static func signature(_ form: [UInt8], _ method: SSHPublicKey.Method) -> [UInt8]? {
    var reader = SSHReader(form)
    guard reader.text() == method.rawValue, let bytes = reader.bytes(), reader.isAtEnd else { return nil }
    switch method {
    case .ed25519: return bytes.count == 64 ? bytes : nil
    case .p256:
      var numbers = SSHReader(bytes)
      guard let r = numbers.number32(), let s = numbers.number32(), numbers.isAtEnd else { return nil }
      return r + s
    }
  }

  private static let malformed = ReleaseError(
    .signature, "a signature is malformed; append the file that ssh-keygen -Y sign wrote, as it is")
}
