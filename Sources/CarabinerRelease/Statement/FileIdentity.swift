internal import CarabinerDigest

/// The size and SHA-256 of a file's bytes.
package struct FileIdentity: Sendable, Hashable {
  /// In bytes.
  package let size: Int
  /// SHA-256 in 64 lower-case digits.
  package let digest: String

  package init(size: Int, digest: String) {
    self.size = size
    self.digest = digest
  }

  package init(of bytes: [UInt8]) {
    self.init(size: bytes.count, digest: DigestText.digits(of: Digest.sha256(bytes)))
  }
}
