internal import Glibc

/// A file that must be a text and not large: a manifest, a secret.
///
/// Nothing is believed about its size before it is read, so pipes work and a device without an end does no harm.
package enum BoundedFile {
  /// Why a file was not taken.
  package enum Fault: Error, Hashable {
    case unreadable(String)
    case tooLarge
    case notText
  }

  /// Reads a file as UTF-8.
  package static func text(at path: String, maximumBytes: Int) throws(Fault) -> String {
    guard let text = String(validating: try bytes(at: path, maximumBytes: maximumBytes), as: UTF8.self) else {
      throw .notText
    }
    return text
  }

  /// Reads a file.
  package static func bytes(at path: String, maximumBytes: Int) throws(Fault) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(reason) }
    defer { close(descriptor) }
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
