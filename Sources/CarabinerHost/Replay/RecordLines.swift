internal import CarabinerBridge
internal import CarabinerManifest
internal import Foundation

/// The lines of a file. Only one of them is in memory at a time.
struct RecordLines: AsyncSequence, Sendable {
  let path: String
  let maximumLineBytes: Int

  func makeAsyncIterator() -> Iterator { Iterator(lines: self) }

  struct Iterator: AsyncIteratorProtocol {
    private static let pieceBytes = 1 << 16

    fileprivate let lines: RecordLines
    private var handle: FileHandle?
    private var buffer = Data()
    private var number = 0
    private var isAtEnd = false

    fileprivate init(lines: RecordLines) { self.lines = lines }

    /// The next line that is not empty, with its number.
    ///
    /// - Throws: ``ManifestError`` if the file cannot be read, or has a line that is too long.
    mutating func next() async throws -> (number: Int, text: [UInt8])? {
      let handle = try open()
      while true {
        if let end = buffer.firstIndex(of: 0x0A) {
          let line = [UInt8](buffer[..<end])
          buffer = Data(buffer[(end + 1)...])
          number += 1
          if !line.isEmpty { return (number, line) }
          continue
        }
        guard !isAtEnd else {
          guard !buffer.isEmpty else { return nil }
          defer { buffer = Data() }
          number += 1
          return (number, [UInt8](buffer))
        }
        guard buffer.count <= lines.maximumLineBytes else {
          throw refusal("line \(number + 1) has more than \(lines.maximumLineBytes) bytes; is it a record?")
        }
        if let piece = try handle.read(upToCount: Self.pieceBytes), !piece.isEmpty {
          buffer.append(piece)
        } else {
          isAtEnd = true
        }
      }
    }

    private mutating func open() throws -> FileHandle {
      if let handle { return handle }
      guard let opened = FileHandle(forReadingAtPath: lines.path) else {
        throw refusal("the record cannot be read; check the path and the permissions")
      }
      handle = opened
      return opened
    }

    private func refusal(_ message: String) -> ManifestError {
      ManifestError(path: lines.path, problems: [ManifestProblem(.unreadable, message)])
    }
  }
}
