internal import CLinux
internal import Glibc

/// Both ends of a pipe: the host's end, which never blocks, and, until the child has it, the writer's end.
final class ReadEnd {
  /// How many bytes are kept, 4 MiB. Later bytes are read and dropped, so that the writer never blocks.
  static let maximumKeptBytes = 4 << 20

  let reader: Int32
  private(set) var writer: Int32
  private(set) var isOpen = true
  /// How many of the last bytes are kept; nil keeps the first bytes instead.
  private let lastBytes: Int?
  private var bytes: [UInt8] = []
  /// Whether more bytes arrived than are kept.
  private(set) var isFull = false

  var text: String { String(decoding: lastBytes.map { bytes.suffix($0) } ?? bytes[...], as: UTF8.self) }

  private init(_ reader: Int32, _ writer: Int32, _ lastBytes: Int?) {
    self.reader = reader
    self.writer = writer
    self.lastBytes = lastBytes
  }

  static func make(keepingLast lastBytes: Int? = nil) throws(HostError) -> ReadEnd {
    var ends: [Int32] = [-1, -1]
    guard unsafe CLinux_newPipe(&ends) == 0 else { throw HostError(system: errno, "a pipe cannot be created") }
    return ReadEnd(ends[0], ends[1], lastBytes)
  }

  /// Reads the available bytes, 1 MiB at most, so that a writer that never stops does not delay the check of the deadline.
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
    // Bytes are dropped only when twice the limit is reached, so that no more bytes are moved than arrived.
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
