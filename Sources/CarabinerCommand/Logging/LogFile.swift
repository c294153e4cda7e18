internal import Foundation
internal import Synchronization

/// The destination of log lines: standard error, or a file that can be opened again after it was renamed.
final class LogFile: Sendable {
  /// The permissions of a new file, before the umask is applied.
  private static let mode: mode_t = 0o640

  /// The log cannot be opened, or cannot be opened again.
  struct CannotOpen: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "the log file \(path) cannot be opened: \(reason)" }
  }

  /// The path; nil for a descriptor that another part of the process owns.
  let path: String?
  private let descriptor: Mutex<Int32>
  private let lost = Atomic<Int>(0)

  /// Standard error.
  static let standardError = LogFile(descriptor: STDERR_FILENO)

  /// Writes to a descriptor, which stays open.
  init(descriptor: Int32) {
    path = nil
    self.descriptor = Mutex(descriptor)
  }

  /// Opens a file for appending, and creates it if it does not exist.
  convenience init(path: String) throws(CannotOpen) { self.init(path, try Self.open(path)) }

  private init(_ path: String, _ descriptor: Int32) {
    self.path = path
    self.descriptor = Mutex(descriptor)
  }

  deinit { if path != nil { descriptor.withLock { _ = close($0) } } }

  /// The number of lines that could not be written.
  var lostLines: Int { lost.load(ordering: .relaxed) }

  /// Writes lines completely. Lines that cannot be written are counted.
  func write(_ lines: [UInt8]) {
    descriptor.withLock { descriptor in
      var rest = lines[...]
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          lost.add(rest.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed)
          return
        }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Opens the path again, so that later lines are in a new file if the old one was renamed. A line is in one of the files completely.
  ///
  /// - Throws: ``CannotOpen``. The old file then stays in use.
  func reopen() throws(CannotOpen) {
    guard let path else { return }
    let new = try Self.open(path)
    let old = descriptor.withLock { descriptor in
      defer { descriptor = new }
      return descriptor
    }
    close(old)
  }

  private static func open(_ path: String) throws(CannotOpen) -> Int32 {
    // Opening must not wait: the path may be a pipe that has no reader.
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, mode)
    guard descriptor >= 0 else {
      throw CannotOpen(path: path, reason: unsafe String(cString: strerror(errno)))
    }
    // Writes must wait for the reader of a pipe, such as /dev/stdout in a container.
    _ = fcntl(descriptor, F_SETFL, O_APPEND)
    return descriptor
  }
}
