/// The publisher's description of a file. Its bytes are signed.
///
/// The form is fixed to the byte: ASCII, lines that end with LF, in one order, each once. So two readers cannot understand one signed
/// text differently.
package struct ReleaseStatement: Sendable, Hashable {
  /// The largest statement, 4 KiB.
  package static let maximumBytes = 4 << 10

  package let subject: ReleaseSubject
  /// A higher serial replaces a lower one, never the reverse. 1 to 2^53.
  package let serial: Int
  /// The file that the statement is about.
  package let file: FileIdentity
  package let issued: ReleaseTime
  /// The first second at which the statement is not valid.
  package let expires: ReleaseTime
  /// The lines that follow, each `x-WORD TEXT`.
  package let additions: [String]

  /// Creates a statement.
  ///
  /// - Throws: ``ReleaseError`` if a value is out of range.
  package init(
    subject: ReleaseSubject, serial: Int, file: FileIdentity, issued: ReleaseTime, expires: ReleaseTime
  ) throws(ReleaseError) {
    guard (1...WholeNumber.maximum).contains(serial) else {
      throw ReleaseError(.signature, "the serial \(serial) is not one of 1 to 2^53; count up from 1")
    }
    guard (0...WholeNumber.maximum).contains(file.size), DigestText.isDigest(file.digest.utf8) else {
      throw ReleaseError(.signature, "the file's size or SHA-256 cannot be written in a statement")
    }
    guard expires > issued else {
      throw ReleaseError(.signature, "the statement would expire at \(expires), not later than it is issued, \(issued)")
    }
    self.subject = subject
    self.serial = serial
    self.file = file
    self.issued = issued
    self.expires = expires
    additions = []
  }

  /// Reads a statement.
  ///
  /// - Throws: ``ReleaseError`` with the code `signature` and the number of the first line that is wrong.
  package init(parsing bytes: [UInt8]) throws(ReleaseError) {
    guard bytes.count <= Self.maximumBytes else {
      throw ReleaseError(.signature, "the statement has \(bytes.count) bytes, more than the \(Self.maximumBytes) allowed")
    }
    var lines = try StatementLines(bytes)
    try lines.version()
    let kind = try lines.value("kind", "plugin, manifest, revoked or release") {
      ReleaseKind(rawValue: String(decoding: $0, as: UTF8.self))
    }
    subject = try lines.value("name", "1 to \(ReleaseSubject.maximumNameBytes) of a-z, 0-9 and -") {
      ReleaseSubject(kind, String(decoding: $0, as: UTF8.self))
    }
    serial = try lines.value("serial", "a number from 1 to 2^53") { WholeNumber.value($0).flatMap { $0 > 0 ? $0 : nil } }
    let digest = try lines.value("sha256", "\(DigestText.length) lower-case hexadecimal digits") {
      DigestText.isDigest($0) ? String(decoding: $0, as: UTF8.self) : nil
    }
    let size = try lines.value("size", "a number of bytes") { WholeNumber.value($0) }
    file = FileIdentity(size: size, digest: digest)
    let form = "a time in UTC, as in 2026-11-22T00:00:00Z"
    let issued = try lines.value("issued", form) { ReleaseTime($0) }
    self.issued = issued
    expires = try lines.value("expires", "\(form), later than that of issued") { text in
      ReleaseTime(text).flatMap { $0 > issued ? $0 : nil }
    }
    additions = try lines.additions()
  }

  /// The text to sign, with the last LF.
  package var text: String {
    let lines = [
      StatementLines.firstLine, "kind \(subject.kind.rawValue)", "name \(subject.name)", "serial \(serial)",
      "sha256 \(file.digest)",
      "size \(file.size)", "issued \(issued)", "expires \(expires)",
    ]
    return (lines + additions).map { "\($0)\n" }.joined()
  }
}
