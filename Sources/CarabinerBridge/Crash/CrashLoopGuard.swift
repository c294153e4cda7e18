internal import CarabinerFiles
package import CarabinerManifest
package import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Remembers across restarts which plugins crashed the host.
///
/// Each process has a record file in the folder, and its signal handler writes to it. The next start collects the records of
/// processes that have ended. Only this user can write to the folder, and lines that are not well-formed are ignored.
package final class CrashLoopGuard: Sendable {
  /// When a plugin counts as crashing repeatedly, and what the host then does.
  package let policy: CrashLoopPolicy
  /// The record file to pass to ``CrashReporter``.
  package let recordPath: String

  private let directory: String
  private let now: @Sendable () -> Date
  private let records: Mutex<[CrashRecord]>

  private static let stateName = "crashes"
  private static let recordPrefix = "record-"
  /// The largest file that is read, 1 MiB. The host writes no larger one.
  private static let maximumBytes = 1 << 20
  /// How many crashes are remembered.
  private static let maximumRecords = 1000
  /// How many seconds in the future a record's time may be, in case the clock was set back.
  private static let clockTolerance: TimeInterval = 60

  /// Collects the records of earlier crashes.
  ///
  /// - Parameters:
  ///   - directory: A folder used for nothing else. It is created if it does not exist.
  ///   - policy: When a plugin counts as crashing repeatedly.
  ///   - now: The clock.
  /// - Throws: ``HostError`` if other users can write to the folder, or this process cannot.
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
      throw HostError(
        .unreadable, step: "crash records", path: directory, "it cannot be locked; does its file system support locks?")
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

  /// How often a plugin crashed the host within the period of the policy.
  package func crashes(of digest: String) -> Int {
    let oldest = now().timeIntervalSince1970 - policy.within.seconds
    return records.withLock { records in records.count { $0.digest == digest && Double($0.time) >= oldest } }
  }

  /// Forgets the crashes of the plugin with this digest, or of all plugins if it is nil.
  ///
  /// - Throws: ``HostError`` if the file cannot be written.
  package func clear(_ digest: String? = nil) throws {
    let folder = try PrivateFile(opening: directory, O_RDONLY | O_DIRECTORY)
    guard folder.lock(waiting: true) else {
      throw HostError(
        .unreadable, step: "crash records", path: directory, "it cannot be locked; does its file system support locks?")
    }
    try records.withLock { records in
      records.removeAll { digest == nil || $0.digest == digest }
      try Self.write(records, in: directory)
    }
  }

  /// The message for the operator about a plugin that crashed the host too often; nil for other plugins.
  package func accusation(of digest: String) -> String? {
    let count = crashes(of: digest)
    guard count >= policy.after, let last = records.withLock({ $0.last { $0.digest == digest } }) else { return nil }
    let time = Date(timeIntervalSince1970: Double(last.time)).formatted(.iso8601)
    return
      "it killed the host \(count) times within \(DurationText.print(policy.within)), last at \(time) by \(last.signal) in \(last.hook) "
      + "as \(last.entry) (SHA-256 \(digest))"
  }

  /// The advice for the operator on how to have the plugin loaded again.
  package var advice: String { "replace or disable it, or remove \(directory)/\(Self.stateName) to have it tried again" }

  // MARK: Files

  /// The record files of processes that have ended, that is, whose locks are free.
  private static func endedRecords(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasPrefix(recordPrefix) }.map { "\(directory)/\($0)" }.filter { path in
      guard let file = try? PrivateFile(opening: path, O_RDONLY) else { return false }
      return file.lock()
    }
  }

  /// The crashes recorded in a file. Lines that are not well-formed are ignored.
  private static func read(_ path: String) -> [CrashRecord] {
    guard let file = try? PrivateFile(opening: path, O_RDONLY), let bytes = file.contents(limit: maximumBytes) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { CrashRecord($0) }
  }

  private static func write(_ records: [CrashRecord], in directory: String) throws(HostError) {
    let path = "\(directory)/\(stateName)"
    let text = records.map { "\($0.line)\n" }.joined()
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(Array(text.utf8), to: path)
    } catch {
      throw HostError(
        .notWritten, step: "crash records", path: path, "it cannot be written: \(error.reason); is there space?")
    }
  }
}
