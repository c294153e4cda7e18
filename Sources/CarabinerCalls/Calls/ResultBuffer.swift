internal import Synchronization

/// The results of a stream that the caller has not read yet.
final class ResultBuffer<Output: Sendable>: Sendable {
  private typealias Reader = CheckedContinuation<StreamResult<Output>?, Never>

  private struct State {
    var results = Queue<StreamResult<Output>>()
    var readers: [Reader] = []
    var isOver = false
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.results.count } }

  /// Adds a result. The end is the last one.
  func add(_ result: StreamResult<Output>) {
    let (reader, others) = state.withLock { state -> (Reader?, [Reader]) in
      guard !state.isOver else { return (nil, []) }
      state.isOver = result.isComplete
      guard !state.readers.isEmpty else {
        state.results.add(result)
        return (nil, [])
      }
      let reader = state.readers.removeFirst()
      guard state.isOver else { return (reader, []) }
      defer { state.readers = [] }
      return (reader, state.readers)
    }
    reader?.resume(returning: result)
    for other in others { other.resume(returning: nil) }
  }

  /// The next result; nil after the end.
  func next() async -> StreamResult<Output>? {
    await withCheckedContinuation { reader in
      let result: StreamResult<Output>?? = state.withLock { state in
        if let result = state.results.take() { return .some(result) }
        if state.isOver { return .some(nil) }
        state.readers.append(reader)
        return nil
      }
      if let result { reader.resume(returning: result) }
    }
  }
}
