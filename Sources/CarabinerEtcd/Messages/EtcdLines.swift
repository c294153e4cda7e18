/// Splits the body of a watch into lines.
package struct EtcdLines: Sendable {
  /// The longest line of a watch. A line has the changes of one transaction, and etcd takes 1.5 MiB in one.
  package static let defaultMaximumBytes = 4 << 20

  private let maximumBytes: Int
  private var bytes: [UInt8] = []
  /// The index of the first byte of the next line.
  private var start = 0
  /// The next line has no line end before this index.
  private var searched = 0

  package init(maximumBytes: Int = EtcdLines.defaultMaximumBytes) { self.maximumBytes = maximumBytes }

  package mutating func add(_ more: some Sequence<UInt8>) {
    bytes.removeSubrange(..<start)
    searched -= start
    start = 0
    bytes.append(contentsOf: more)
  }

  /// The next line without its end; nil if it has not arrived completely.
  ///
  /// - Throws: ``EtcdError`` with code `malformed` if the line is too long.
  package mutating func next() throws(EtcdError) -> [UInt8]? {
    let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n"))
    searched = end ?? bytes.count
    guard searched - start <= maximumBytes else {
      throw EtcdError(.malformed, "a line of a watch of etcd has more than \(maximumBytes) bytes; publish smaller values")
    }
    guard let end else { return nil }
    defer {
      start = end + 1
      searched = start
    }
    return Array(bytes[start..<end])
  }

  /// The bytes after the last line end, when no more bytes follow. The error that ends a stream has no line end.
  package var rest: [UInt8] { Array(bytes[start...]) }
}
