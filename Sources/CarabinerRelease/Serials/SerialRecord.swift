/// The highest serial of each subject that was kept as last good, so that an older file is not accepted afterwards.
package struct SerialRecord: Sendable, Hashable {
  /// The largest file, 1 MiB.
  package static let maximumBytes = 1 << 20
  private static let firstLine = "carabiner-serials 1"

  private struct Entry: Sendable, Hashable {
    let serial: Int
    let digest: String
  }

  private var entries: [ReleaseSubject: Entry] = [:]

  /// No history, as on a new node.
  package init() {}

  /// Reads the file that ``text`` was written to.
  ///
  /// - Parameter name: The name of the file in messages.
  /// - Throws: ``ReleaseError`` if it is malformed. Such a file is not ignored: that would permit every older file.
  package init(parsing bytes: [UInt8], name: String = "the record of serials") throws(ReleaseError) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    func fault(_ line: Int) -> ReleaseError {
      ReleaseError(
        .invalidFile,
        "line \(line) of \(name) cannot be used; restore the file from a backup, or remove it, which permits older files "
          + "again")
    }
    guard bytes.count <= Self.maximumBytes, lines.popFirst()?.elementsEqual(Self.firstLine.utf8) == true,
      lines.popLast()?.isEmpty == true
    else { throw fault(1) }
    for (index, line) in lines.enumerated() {
      let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      guard words.count == 3, let subject = ReleaseSubject(String(decoding: words[0], as: UTF8.self)), entries[subject] == nil,
        let serial = WholeNumber.value(words[1]), serial > 0, DigestText.isDigest(words[2])
      else { throw fault(index + 2) }
      entries[subject] = Entry(serial: serial, digest: String(decoding: words[2], as: UTF8.self))
    }
  }

  /// The contents of the file, sorted by subject.
  package var text: String {
    let lines = entries.map { "\($0.key) \($0.value.serial) \($0.value.digest)" }.sorted()
    return ([Self.firstLine] + lines).map { "\($0)\n" }.joined()
  }

  /// Refuses a statement with a lower serial than the recorded one, or with the same serial for another file.
  ///
  /// - Throws: ``ReleaseError`` with the code `downgrade`.
  package func check(_ statement: ReleaseStatement) throws(ReleaseError) {
    guard let entry = entries[statement.subject] else { return }
    let advice = "to go back to an older file on purpose, sign it with a serial above \(entry.serial)"
    guard statement.serial >= entry.serial else {
      throw ReleaseError(
        .downgrade,
        "\(statement.subject) has the serial \(statement.serial), and \(entry.serial) was in use here before; \(advice)")
    }
    guard statement.serial > entry.serial || statement.file.digest == entry.digest else {
      throw ReleaseError(
        .downgrade, "\(statement.subject) has the serial \(statement.serial), which another file had here before; \(advice)")
    }
  }

  /// Records a statement whose file is kept as last good. A lower serial changes nothing.
  package mutating func keep(_ statement: ReleaseStatement) {
    guard statement.serial >= entries[statement.subject]?.serial ?? 0 else { return }
    entries[statement.subject] = Entry(serial: statement.serial, digest: statement.file.digest)
  }

  /// Forgets a subject, so that any serial is accepted once.
  ///
  /// - Returns: Whether there was an entry.
  package mutating func reset(_ subject: ReleaseSubject) -> Bool { entries.removeValue(forKey: subject) != nil }
}
