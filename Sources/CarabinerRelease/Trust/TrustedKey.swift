/// A line of a trust file: a key, and what it may sign.
package struct TrustedKey: Sendable, Hashable {
  package let key: SSHPublicKey
  /// The patterns of principals as they are written, for example `plugin:*`.
  package let principals: String
  /// The line in the file, counted from 1.
  package let line: Int
  /// The last second at which the key may be used; nil without an end.
  package var validBefore: ReleaseTime? { options.validBefore }
  private let patterns: NamePatterns
  private let options: TrustOptions

  init(key: SSHPublicKey, principals: String, options: TrustOptions, line: Int) {
    self.key = key
    self.principals = principals
    self.options = options
    self.line = line
    patterns = NamePatterns(principals.utf8)
  }

  /// Whether the key may sign for a subject at a time. As in OpenSSH, both ends of the time are included.
  func allows(_ subject: ReleaseSubject, at time: ReleaseTime) -> Bool {
    patterns.matches(subject.description) && options.namespaces?.matches(SSHSignature.namespace) ?? true
      && time >= options.validAfter ?? time && time <= options.validBefore ?? time
  }
}
