internal import Dispatch
internal import Foundation
internal import Synchronization

/// Writes lines to a file on a thread of its own, as many at once as have come together: whoever says something never waits for
/// whoever reads it.
final class LineWriter: Sendable {
  /// How much may wait to be written; what comes on top is left out.
  static let maximumBytes = 4 << 20

  private struct State {
    var waiting: [UInt8] = []
    var isWriting = false
    var leftOut = 0
  }

  private let file: FileHandle
  private let maximumBytes: Int
  private let queue = DispatchQueue(label: "carabiner.log")
  private let state = Mutex(State())

  init(_ file: FileHandle, maximumBytes: Int = LineWriter.maximumBytes) {
    self.file = file
    self.maximumBytes = maximumBytes
  }

  /// Writes a line, soon.
  func append(_ line: String) {
    let isFirst = state.withLock { state in
      guard state.waiting.count + line.utf8.count <= maximumBytes else {
        state.leftOut += 1
        return false
      }
      state.waiting.append(contentsOf: line.utf8)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if isFirst { queue.async { [self] in write() } }
  }

  /// Returns when all that was taken is written; gives how many lines were left out.
  func finish() -> Int {
    queue.sync {}
    return state.withLock(\.leftOut)
  }

  private func write() {
    while true {
      let bytes = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isWriting = false }
        return state.waiting
      }
      guard !bytes.isEmpty else { return }
      // Nobody is left to be told that it cannot be written.
      try? file.write(contentsOf: Data(bytes))
    }
  }
}
