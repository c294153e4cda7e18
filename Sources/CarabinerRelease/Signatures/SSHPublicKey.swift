internal import CarabinerDigest

/// A public key in OpenSSH's form.
package struct SSHPublicKey: Sendable, Hashable {
  /// The supported methods.
  package enum Method: String, Sendable, CaseIterable {
    case ed25519 = "ssh-ed25519"
    case p256 = "ecdsa-sha2-nistp256"
  }

  package let method: Method
  /// The key in the form that OpenSSH hashes and compares.
  package let form: [UInt8]
  let key: Signature.PublicKey

  /// - Returns: nil if the form is not exactly that of a supported key.
  package init?(_ form: [UInt8]) {
    var reader = SSHReader(form)
    guard let name = reader.text(), let method = Method(rawValue: name) else { return nil }
    switch method {
    case .ed25519:
      guard let bytes = reader.bytes(), bytes.count == 32 else { return nil }
      key = .ed25519(bytes)
    case .p256:
      guard reader.text() == "nistp256", let point = reader.bytes(), point.count == 65, point[0] == 4 else { return nil }
      key = .p256(point)
    }
    guard reader.isAtEnd else { return nil }
    self.method = method
    self.form = form
  }

  /// The name of the method of a key in any form, for messages; nil if it has none.
  static func methodName(of form: [UInt8]) -> String? {
    var reader = SSHReader(form)
    return reader.text().flatMap { (1...64).contains($0.utf8.count) ? $0 : nil }
  }

  /// `SHA256:` and 43 characters, as `ssh-keygen -l` prints.
  package var fingerprint: String { "SHA256:" + Base64Text.encoded(Digest.sha256(form)).prefix { $0 != "=" } }

  package static func == (left: SSHPublicKey, right: SSHPublicKey) -> Bool { left.form == right.form }

  package func hash(into hasher: inout Hasher) { hasher.combine(form) }
}
