internal import Glibc

/// The standard output and error of the process, kept in files of its folder meanwhile.
struct PrintedOutput {
  private struct Stream {
    let number: Int32
    /// The original descriptor.
    let saved: Int32
    let path: String
  }

  /// How much of a file is read.
  static let maximumBytes = 8 << 20
  private var streams: [Stream] = []

  /// Redirects the output. If that fails, the output goes to its usual place.
  init() {
    fflush(nil)
    for number in [STDOUT_FILENO, STDERR_FILENO] {
      // Above all descriptors that a plugin opens.
      let saved = fcntl(number, F_DUPFD, 100)
      guard saved >= 0 else { continue }
      let stream = Stream(number: number, saved: saved, path: "./printed-\(number)")
      unsafe unlink(stream.path)
      let file = unsafe open(stream.path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
      if file >= 0, dup2(file, number) == number { streams.append(stream) } else { Self.restore(stream) }
      if file >= 0 { close(file) }
    }
  }

  /// Returns the output, and writes it to its usual place.
  func finish() -> [[UInt8]] {
    fflush(nil)
    return streams.map { stream in
      let bytes = Self.bytes(of: stream.path)
      Self.restore(stream)
      _ = unsafe bytes.withUnsafeBytes { unsafe write(stream.number, $0.baseAddress, $0.count) }
      return bytes
    }
  }

  private static func restore(_ stream: Stream) {
    _ = dup2(stream.saved, stream.number)
    close(stream.saved)
  }

  /// The beginning of a file; empty if it cannot be read.
  static func bytes(of path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < maximumBytes {
      let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes.append(contentsOf: piece[..<count])
    }
    return bytes
  }
}
