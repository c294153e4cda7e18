package import CarabinerManifest
package import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Remembers which plugins killed the host, from one start to the next.
///
/// Each process has a record in the folder, which its signal handler writes to; the next start collects the records of processes that
/// are gone. The folder is ours alone, and a line in it counts only if it looks as it must.
package final class CrashLoopGuard: Sendable {
  /// What is done about such plugins.
  package let policy: CrashLoopPolicy
  /// The file ``CrashReporter`` is to record to.
  package let recordPath: String

  private let directory: String
  private let now: @Sendable () -> Date
  private let records: Mutex<[CrashRecord]>

  private static let stateName = "crashes"
  private static let recordPrefix = "record-"
  /// How large a file may be, 1 MiB: more was not written by us.
  private static let maximumBytes = 1 << 20
  /// How many crashes are remembered.
  private static let maximumRecords = 1000
  /// How far the clock may have been set back.
  private static let clockTolerance: TimeInterval = 60

  /// Collects what is known of earlier crashes.
  ///
  /// - Parameters:
  ///   - directory: A folder for this alone; it is made if it is not there.
  ///   - now: What time it is.
  /// - Throws: ``CrashStateError`` if the folder is not ours alone, or cannot be written to.
  package init(
    directory: String, policy: CrashLoopPolicy, now: @escaping @Sendable () -> Date = { .now }
  ) throws {
    self.directory = directory
    self.policy = policy
    self.now = now
    recordPath = "\(directory)/\(Self.recordPrefix)\(getpid())-\(UInt32.random(in: 0...(.max)))"
    _ = unsafe mkdir(directory, 0o700)
    let folder = try PrivateFile(opening: directory, O_RDONLY | O_DIRECTORY)
    guard folder.lock(waiting: true) else {
      throw CrashStateError(.unreadable, path: directory, "it cannot be locked; does its file system know locks?")
    }
    let oldest = now().timeIntervalSince1970 - policy.within.seconds
    let newest = now().timeIntervalSince1970 + Self.clockTolerance
    let ended = Self.endedRecords(in: directory)
    let known = Self.read("\(directory)/\(Self.stateName)") + ended.flatMap { Self.read($0) }
    let kept = known.filter { (oldest...newest).contains(Double($0.time)) }.sorted { $0.time < $1.time }.suffix(
      Self.maximumRecords)
    records = Mutex(Array(kept))
    try Self.write(Array(kept), in: directory)
    for path in ended { unsafe unlink(path) }
  }

  /// How often a plugin killed the host within the time that counts.
  package func crashes(of digest: String) -> Int {
    let oldest = now().timeIntervalSince1970 - policy.within.seconds
    return records.withLock { records in records.count { $0.digest == digest && Double($0.time) >= oldest } }
  }

  /// Forgets the crashes of a plugin, or all.
  ///
  /// - Throws: ``CrashStateError`` if that cannot be written down.
  package func clear(_ digest: String? = nil) throws {
    let folder = try PrivateFile(opening: directory, O_RDONLY | O_DIRECTORY)
    guard folder.lock(waiting: true) else {
      throw CrashStateError(.unreadable, path: directory, "it cannot be locked; does its file system know locks?")
    }
    try records.withLock { records in
      records.removeAll { digest == nil || $0.digest == digest }
      try Self.write(records, in: directory)
    }
  }

  /// What a person is to know of a plugin that killed the host too often; nil if it did not.
  func accusation(of digest: String) -> String? {
    let count = crashes(of: digest)
    guard count >= policy.after, let last = records.withLock({ $0.last { $0.digest == digest } }) else { return nil }
    let time = Date(timeIntervalSince1970: Double(last.time)).formatted(.iso8601)
    return
      "it killed the host \(count) times within \(DurationText.print(policy.within)), last at \(time) by \(last.signal) in \(last.hook) "
      + "as \(last.entry) (SHA-256 \(digest))"
  }

  /// What to do for the plugin to be loaded again, for a person.
  var advice: String { "replace or disable it, or remove \(directory)/\(Self.stateName) to have it tried again" }

  // MARK: Files

  /// The records of processes that are gone.
  private static func endedRecords(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasPrefix(recordPrefix) }.map { "\(directory)/\($0)" }.filter { path in
      guard let file = try? PrivateFile(opening: path, O_RDONLY) else { return false }
      return file.lock()
    }
  }

  /// The crashes a file tells of; what is no line of ours is passed over.
  private static func read(_ path: String) -> [CrashRecord] {
    guard let file = try? PrivateFile(opening: path, O_RDONLY), let bytes = file.contents(limit: maximumBytes) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { CrashRecord($0) }
  }

  private static func write(_ records: [CrashRecord], in directory: String) throws(CrashStateError) {
    let path = "\(directory)/\(stateName)"
    let temporary = "\(path).\(UInt64.random(in: 0...(.max)))"
    let file = try PrivateFile(opening: temporary, O_WRONLY | O_CREAT | O_EXCL)
    let text = records.map { "\($0.line)\n" }.joined()
    guard file.write(Array(text.utf8)), unsafe rename(temporary, path) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      unsafe unlink(temporary)
      throw CrashStateError(.notWritten, path: path, "it cannot be written: \(reason); is there space?")
    }
  }
}
