internal import CarabinerGateway
internal import Foundation

/// What only one gateway may have at a time, looked at before anything is loaded or written.
enum SoleServer {
  private static let lockName = "lock"

  /// Ends the command if a gateway answers at an admin socket.
  ///
  /// - Throws: ``ExitStatus/network`` after a message.
  static func claim(adminSocket path: String) throws {
    guard case .process(let process) = UnixSocketFile.server(at: path) else { return }
    Terminal.complain(
      "error: another carabiner\(name(of: process)) answers at \(path); end it, or name another path with --admin")
    throw ExitStatus.network
  }

  /// Locks the folder of what outlives the process, until the process ends.
  ///
  /// - Throws: ``ExitStatus/network`` after a message if another process has it, or a usage error if it cannot be used.
  static func claim(state folder: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw usageError(
        "the folder \(folder) cannot be made: \(error.localizedDescription); --state takes one that may be written")
    }
    let path = "\(folder)/\(lockName)"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw usageError(
        unsafe "\(path) cannot be opened: \(String(cString: strerror(errno))); --state takes a folder that may be written")
    }
    // The descriptor stays open: the lock goes with the process, however it ends.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = holder(descriptor)
      close(descriptor)
      Terminal.complain(
        "error: another carabiner\(name(of: holder)) keeps its state in \(folder); end it, or name another folder with --state")
      throw ExitStatus.network
    }
    let text = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// The process that wrote its number into the lock; nil if there is none in it yet.
  private static func holder(_ descriptor: Int32) -> pid_t? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return nil }
    return pid_t(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
  }

  private static func name(of process: pid_t?) -> String { process.map { " (process \($0))" } ?? "" }
}
