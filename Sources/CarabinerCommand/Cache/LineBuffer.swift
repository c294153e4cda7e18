internal import Foundation

/// Buffers lines for standard output.
struct LineBuffer {
  private static let size = 64 << 10

  private var bytes: [UInt8] = []

  mutating func append(_ line: String) {
    bytes.append(contentsOf: line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count >= Self.size { flush() }
  }

  mutating func flush() {
    FileHandle.standardOutput.write(Data(bytes))
    bytes.removeAll(keepingCapacity: true)
  }
}
