internal import CCrash
internal import Glibc

/// Names the plugin whose code was running when the process dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT or SIGTRAP.
///
/// One line on standard error tells entry, file, hook, call and generation. A thread that died in a plugin's code without the host
/// having called it is told by the instruction it died at. Then everything goes as it would have gone anyway: handlers that were there
/// before, core dumps and the exit status stay what they were. If Swift's runtime writes a backtrace, the line is written once more below.
package enum CrashReporter {
  /// Takes over the fatal signals.
  ///
  /// - Parameter path: A file a line for ``CrashLoopGuard`` is appended to; it stays open and locked while the process lives.
  /// - Throws: ``CrashStateError`` if the file cannot be opened, or is not ours alone.
  package static func install(recordingTo path: String? = nil) throws {
    let descriptor = try path.map { try open($0) } ?? -1
    guard CCrash_install(descriptor) == 0 else {
      throw CrashStateError(
        .notInstalled, path: path ?? "", unsafe "the fatal signals cannot be taken over: \(String(cString: strerror(errno)))")
    }
  }

  private static func open(_ path: String) throws -> Int32 {
    // A collector may remove the file between its making and its lock; another is made then.
    for _ in 0..<16 {
      let file = try PrivateFile(opening: path, O_WRONLY | O_CREAT | O_APPEND)
      guard file.lock(), file.isLinked else { continue }
      return file.release()
    }
    throw CrashStateError(.busy, path: path, "somebody else writes to it; give each process a file of its own")
  }
}
