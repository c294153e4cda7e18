internal import CTestHost
internal import Glibc

/// Other copies of the plugin, each a library of its own for the dynamic linker.
extension LoadingTrial {
  /// Writes a copy into the folder of this process.
  ///
  /// - Parameters:
  ///   - name: The new name of the file, without `.so`. The file is not removed, because the linker could mistake a new file at its
  ///     path for it.
  ///   - bytes: The content; the unchanged plugin if nil.
  /// - Throws: ``ConformanceError``; ``TrialNotes/Skip`` if the plugin may be the cause.
  func copy(named name: String, _ bytes: [UInt8]? = nil) throws -> String {
    let path = "./\(name).so"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o500)
    guard descriptor >= 0 else { throw Self.failure(of: path) }
    defer { close(descriptor) }
    let bytes = bytes ?? self.bytes
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress.map { unsafe $0 + done }, $0.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failure(of: path) }
      done += count
    }
    return path
  }

  private static func failure(of path: String) -> any Error {
    let failure = ConformanceError(message: "\(path) cannot be written: \(unsafe String(cString: strerror(errno)))")
    return mayBeChanged ? TrialNotes.Skip("after it was loaded, \(failure)") : failure
  }

  /// Makes a copy in memory, without a folder.
  ///
  /// - Throws: As ``copy(named:_:)``.
  func memoryCopy() throws -> String {
    let descriptor = unsafe bytes.withUnsafeBytes { unsafe CTestHost_memoryFile($0.baseAddress, $0.count) }
    guard descriptor >= 0 else { throw Self.failure(of: "a memory file") }
    return "/proc/self/fd/\(descriptor)"
  }
}
