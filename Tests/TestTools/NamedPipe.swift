internal import Foundation
internal import Glibc

/// A named pipe for lines between a test and a plugin that it loaded.
public final class NamedPipe: Sendable {
  /// The path of the pipe. It is removed with its folder.
  public let path: String
  private let end: FileHandle

  /// The pipe could not be made.
  public struct Failure: Error {
    /// The `errno` of the failure.
    public let number: Int32
  }

  /// Makes a pipe.
  public init(_ path: String) throws {
    self.path = path
    guard unsafe mkfifo(path, 0o600) == 0 else { throw Failure(number: errno) }
    // Opened for reading and writing, so that neither side waits for the other to open it.
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    end = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Writes a line.
  public func send(_ line: String) throws { try end.write(contentsOf: Data("\(line)\n".utf8)) }

  /// Waits for a line from the other side.
  public func line() async throws -> String {
    let end = end
    return try await offThePool { end.line() }
  }
}
