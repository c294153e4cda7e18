internal import Dispatch
internal import Synchronization

/// Writes lines to a file in batches, on its own queue. Callers never wait for the reader of the file.
final class LineWriter: Sendable {
  /// The most bytes that may wait to be written. Further lines are dropped.
  static let maximumBytes = 4 << 20

  private struct State {
    var waiting: [UInt8] = []
    var isWriting = false
    var leftOut = 0
  }

  let file: LogFile
  private let maximumBytes: Int
  private let queue = DispatchQueue(label: "carabiner.log")
  private let state = Mutex(State())

  init(_ file: LogFile, maximumBytes: Int = LineWriter.maximumBytes) {
    self.file = file
    self.maximumBytes = maximumBytes
  }

  /// The number of lines that were dropped because too many were waiting.
  var leftOut: Int { state.withLock(\.leftOut) }

  /// Queues a line.
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

  /// Waits until all queued lines are written. Returns the number of dropped lines.
  func finish() -> Int {
    queue.sync {}
    return leftOut
  }

  private func write() {
    while true {
      let bytes = state.withLock { state in
        defer { state.waiting = [] }
        if state.waiting.isEmpty { state.isWriting = false }
        return state.waiting
      }
      guard !bytes.isEmpty else { return }
      file.write(bytes)
    }
  }
}
