internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The body of a stream between the caller and the transport.
final class RequestPipe: Sendable {
  private struct State {
    var waiting: [Data] = []
    var waitingBytes = 0
    var sentBytes = 0
    var isClosed = false
    var reader: CheckedContinuation<Void, Never>?

    mutating func takeReader() -> CheckedContinuation<Void, Never>? {
      defer { reader = nil }
      return reader
    }
  }

  private let maximumBytes: Int
  private let state = Mutex(State())

  /// - Parameter maximumBytes: The largest number of bytes that wait to be sent.
  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The number of bytes that were taken.
  var sentBytes: Int { state.withLock { $0.sentBytes } }

  /// Adds a piece. Returns false if too many bytes wait.
  func send(_ data: Data) -> Bool {
    let (isAccepted, reader) = state.withLock { state in
      guard !state.isClosed else { return (true, CheckedContinuation<Void, Never>?.none) }
      guard state.waitingBytes + data.count <= maximumBytes else { return (false, nil) }
      state.waiting.append(data)
      state.waitingBytes += data.count
      return (true, state.takeReader())
    }
    reader?.resume()
    return isAccepted
  }

  /// Ends the body.
  func close() {
    let reader = state.withLock { state in
      state.isClosed = true
      return state.takeReader()
    }
    reader?.resume()
  }

  /// The pieces while they come.
  var chunks: PullStream<Data> {
    PullStream {
      while true {
        let (piece, isOver) = self.take()
        if let piece { return .element(piece) }
        if isOver { return .end }
        try Task.checkCancellation()
        await self.waitForPiece()
      }
    }
  }

  private func take() -> (Data?, isOver: Bool) {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return (nil, state.isClosed) }
      // All pieces that wait go out as one.
      var all = state.waiting[0]
      for piece in state.waiting.dropFirst() { all.append(piece) }
      state.sentBytes += all.count
      (state.waiting, state.waitingBytes) = ([], 0)
      return (all, false)
    }
  }

  private func waitForPiece() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let mustWait = state.withLock { state in
          guard state.waiting.isEmpty, !state.isClosed, !Task.isCancelled else { return false }
          state.reader = reader
          return true
        }
        if !mustWait { reader.resume() }
      }
    } onCancel: {
      let reader = state.withLock { $0.takeReader() }
      reader?.resume()
    }
  }
}
