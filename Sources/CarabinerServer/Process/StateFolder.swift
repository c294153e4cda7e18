internal import Foundation
internal import Synchronization

/// The state folder of a host, locked for one host at a time.
///
/// The lock belongs to the open file. It is released with ``release()``, or when the process ends in any way.
final class StateFolder: Sendable {
  private static let lockName = "lock"

  /// The open lock file; -1 once it was released.
  private let descriptor: Atomic<Int32>

  /// Creates the folder if there is none, and locks it.
  ///
  /// - Throws: ``ServerError`` if another host uses it, or if it cannot be used.
  // The object is created after everything that can fail.
  convenience init(_ folder: String) throws { self.init(descriptor: try Self.lock(folder)) }

  private init(descriptor: Int32) { self.descriptor = Atomic(descriptor) }

  deinit { release() }

  /// Releases the lock, so that another host can use the folder.
  ///
  /// The host calls it at its end, because the thread that has made the host may hold this object a little longer.
  func release() {
    let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
    guard descriptor >= 0 else { return }
    // A process that this one is just starting shares the open file until it runs its own program, so closing would not be enough.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func lock(_ folder: String) throws -> Int32 {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw ServerError.invalid(
        "the folder \(folder) cannot be created: \(error.localizedDescription); --state needs a writable folder")
    }
    let path = "\(folder)/\(lockName)"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw ServerError.invalid(
        unsafe "\(path) cannot be opened: \(String(cString: strerror(errno))); --state needs a writable folder")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = holder(descriptor)
      close(descriptor)
      throw ServerError(
        .inUse,
        "another carabiner\(SoleServer.name(of: holder)) keeps its state in \(folder); end it, or name another folder with --state"
      )
    }
    let text = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    return descriptor
  }

  /// The process ID in the lock file; nil if there is none yet.
  private static func holder(_ descriptor: Int32) -> pid_t? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return nil }
    return pid_t(String(decoding: bytes[..<count], as: UTF8.self).prefix { $0.isNumber })
  }
}
