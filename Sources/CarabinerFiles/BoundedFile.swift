internal import Glibc

/// Reads small files, such as manifests and secrets, up to a maximum size.
///
/// The size is checked while the file is read, so pipes work and endless devices are refused.
package enum BoundedFile {
  /// The reason why a file is refused.
  package enum Fault: Error, Hashable {
    case unreadable(String)
    case tooLarge
    case notText
  }

  /// The byte order mark that some programs write at the head of a text in UTF-8.
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The bytes of a text, without the byte order mark at their head.
  package static func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
  }

  /// Reads a file as UTF-8, without a byte order mark at its head.
  package static func text(at path: String, maximumBytes: Int) throws(Fault) -> String {
    guard let text = String(validating: withoutMark(try bytes(at: path, maximumBytes: maximumBytes)), as: UTF8.self) else {
      throw .notText
    }
    return text
  }

  /// Reads a file.
  package static func bytes(at path: String, maximumBytes: Int) throws(Fault) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(reason) }
    defer { close(descriptor) }
    return try bytes(of: descriptor, maximumBytes: maximumBytes)
  }

  /// Reads an open file.
  package static func bytes(of descriptor: Int32, maximumBytes: Int) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(reason) }
      guard count > 0 else { return bytes }
      bytes.append(contentsOf: chunk[..<count])
      guard bytes.count <= maximumBytes else { throw .tooLarge }
    }
  }

  private static var reason: String { unsafe String(cString: strerror(errno)) }
}
