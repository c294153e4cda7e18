internal import CLinux
internal import Glibc

/// Our end of a pipe, which never makes us wait, and for a moment the other one.
final class ReadEnd {
  /// How much is kept of what is written to it, 4 MiB; the rest is read and dropped, so that the writer never waits for us.
  static let maximumKeptBytes = 4 << 20

  let reader: Int32
  private(set) var writer: Int32
  private(set) var isOpen = true
  /// How much is kept of its end; if nil, it is the beginning that is kept.
  private let lastBytes: Int?
  private var bytes: [UInt8] = []
  /// Whether more came than is kept.
  private(set) var isFull = false

  var text: String { String(decoding: lastBytes.map { bytes.suffix($0) } ?? bytes[...], as: UTF8.self) }

  private init(_ reader: Int32, _ writer: Int32, _ lastBytes: Int?) {
    self.reader = reader
    self.writer = writer
    self.lastBytes = lastBytes
  }

  static func make(keepingLast lastBytes: Int? = nil) throws(WatchedProcess.Failure) -> ReadEnd {
    var ends: [Int32] = [-1, -1]
    guard unsafe CLinux_newPipe(&ends) == 0 else { throw WatchedProcess.Failure("no pipe can be made", errno) }
    return ReadEnd(ends[0], ends[1], lastBytes)
  }

  /// Reads what is there, a mebibyte at most: a writer that never stops must not keep us from looking at the clock.
  func read() {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    for _ in 0..<64 where isOpen {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(reader, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else {
        isOpen = false
        return
      }
      keep(chunk[..<count])
    }
  }

  private func keep(_ chunk: ArraySlice<UInt8>) {
    guard let lastBytes else {
      if bytes.count < Self.maximumKeptBytes { bytes.append(contentsOf: chunk) } else { isFull = true }
      return
    }
    // Not with every piece: what is moved is at least as much as what came.
    if bytes.count > 2 * lastBytes { bytes.removeFirst(bytes.count - lastBytes) }
    bytes.append(contentsOf: chunk)
  }

  func closeWriter() {
    if writer >= 0 { Glibc.close(writer) }
    writer = -1
  }

  func close() {
    closeWriter()
    Glibc.close(reader)
  }
}
