/// Keys, files, and serials below a number that are not accepted any more, although they are signed.
package struct RevocationList: Sendable, Hashable {
  /// The largest list, 1 MiB.
  package static let maximumBytes = 1 << 20
  private static let maximumLineBytes = 256
  private static let fingerprintMark = "SHA256:"

  private var keys: Set<String> = []
  private var digests: Set<String> = []
  private var lowestSerials: [ReleaseSubject: Int] = [:]

  /// How many keys, files and names it has.
  package var count: Int { keys.count + digests.count + lowestSerials.count }

  /// Nothing is revoked.
  package init() {}

  /// Reads a list.
  ///
  /// - Parameter name: The name of the list in messages.
  /// - Throws: ``ReleaseError`` with the number of the first line that is wrong.
  package init(parsing bytes: [UInt8], name: String = "the list of revocations") throws(ReleaseError) {
    guard bytes.count <= Self.maximumBytes else {
      throw ReleaseError(.invalidFile, "\(name) has more than \(Self.maximumBytes) bytes; is it the right file?")
    }
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      guard add(line) else {
        throw ReleaseError(
          .invalidFile,
          "line \(index + 1) of \(name) cannot be used; write key SHA256:FINGERPRINT, sha256 DIGEST or "
            + "serials-below KIND:NAME NUMBER")
      }
    }
  }

  /// The list that revokes what this one or another one revokes.
  package func union(_ other: Self) -> Self {
    var list = self
    list.keys.formUnion(other.keys)
    list.digests.formUnion(other.digests)
    list.lowestSerials.merge(other.lowestSerials, uniquingKeysWith: max)
    return list
  }

  /// Whether a key is revoked.
  package func revokes(_ key: SSHPublicKey) -> Bool { keys.contains(key.fingerprint) }

  /// The reason why a statement or its file is revoked; nil if neither is. Keys are not looked at.
  package func reason(against statement: ReleaseStatement) -> String? {
    if digests.contains(statement.file.digest) { return "the file with the SHA-256 \(statement.file.digest) is revoked" }
    guard let lowest = lowestSerials[statement.subject], statement.serial < lowest else { return nil }
    return "serials of \(statement.subject) below \(lowest) are revoked, and this is \(statement.serial)"
  }

  /// Adds a line.
  ///
  /// - Returns: Whether it is a valid one, or empty, or a comment.
  private mutating func add(_ line: ArraySlice<UInt8>) -> Bool {
    guard line.count <= Self.maximumLineBytes, line.allSatisfy({ (0x20...0x7E).contains($0) }) else { return false }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    guard let first = words.first, !first.hasPrefix("#") else { return true }
    switch (first, words.count) {
    case ("key", 2):
      let digest = Base64Text.decoded("\(words[1].dropFirst(Self.fingerprintMark.count))=".utf8)
      guard words[1].hasPrefix(Self.fingerprintMark), digest?.count == 32 else { return false }
      keys.insert(words[1])
    case ("sha256", 2):
      guard DigestText.isDigest(words[1].utf8) else { return false }
      digests.insert(words[1])
    case ("serials-below", 3):
      guard let subject = ReleaseSubject(words[1]), let lowest = WholeNumber.value(words[2].utf8) else { return false }
      lowestSerials[subject] = max(lowest, lowestSerials[subject] ?? 0)
    default: return false
    }
    return true
  }
}
