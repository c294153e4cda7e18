internal import CCrash
internal import Glibc

/// Names the plugin whose code was running when the process receives SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT or SIGTRAP.
///
/// A line on standard error shows the entry, file, hook, call and generation. If a thread of the plugin's own crashed, the line
/// names the library that contains the instruction. Afterwards the signal takes its usual course: earlier handlers run, and
/// core dumps and the exit status are unchanged. If Swift's runtime writes a backtrace, the line is repeated after it.
package enum CrashReporter {
  /// Installs handlers for the fatal signals.
  ///
  /// - Parameter path: The file to append a line for ``CrashLoopGuard`` to. It stays open and locked as long as the process
  ///   lives.
  /// - Throws: ``HostError`` if the file cannot be opened, or other users can write to it.
  package static func install(recordingTo path: String? = nil) throws {
    let descriptor = try path.map { try open($0) } ?? -1
    guard CCrash_install(descriptor) == 0 else {
      throw HostError(
        .crashHandlersFailed, step: "crash records", path: path ?? "",
        unsafe "handlers for the fatal signals cannot be installed: \(String(cString: strerror(errno)))")
    }
  }

  private static func open(_ path: String) throws -> Int32 {
    // A collector may remove the file before it is locked. Another one is then created.
    for _ in 0..<16 {
      let file = try PrivateFile(opening: path, O_WRONLY | O_CREAT | O_APPEND)
      guard file.lock(), file.isLinked else { continue }
      return file.release()
    }
    throw HostError(.busy, step: "crash records", path: path, "another process writes to it; give each process a file of its own")
  }
}
