internal import Carabiner
internal import Foundation
internal import Synchronization

/// The buffer between the connection and the reader of one operation.
final class ResultQueue: Sendable {
  private typealias Reader = CheckedContinuation<SocketSession.Event, any Error>

  private struct State {
    var events: [SocketSession.Event] = []
    var taken = 0
    var bytes = 0
    var reader: Reader?
    var isFull = false
    var isCancelled = false

    var count: Int { events.count - taken }

    mutating func takeFirst() -> SocketSession.Event? {
      guard taken < events.count else { return nil }
      let event = events[taken]
      taken += 1
      if taken == events.count {
        events.removeAll(keepingCapacity: true)
        taken = 0
      } else if taken >= 64, taken * 2 >= events.count {
        events.removeFirst(taken)
        taken = 0
      }
      bytes -= event.bytes
      return event
    }
  }

  private let maximumResults: Int
  private let maximumBytes: Int
  private let state = Mutex(State())

  init(maximumResults: Int, maximumBytes: Int) {
    self.maximumResults = maximumResults
    self.maximumBytes = maximumBytes
  }

  /// Adds an event.
  ///
  /// - Returns: Whether the buffer is full.
  func put(_ event: SocketSession.Event) -> Bool {
    let (reader, isFull): (Reader?, Bool) = state.withLock { state in
      guard !state.isCancelled else { return (nil, false) }
      if let reader = state.reader {
        state.reader = nil
        return (reader, false)
      }
      state.events.append(event)
      state.bytes += event.bytes
      if state.count >= maximumResults || state.bytes >= maximumBytes { state.isFull = true }
      return (nil, state.isFull)
    }
    reader?.resume(returning: event)
    return isFull
  }

  /// Returns the next event, and waits if there is none.
  ///
  /// - Returns: The event, and whether the buffer has changed from full to not full.
  /// - Throws: `CancellationError` if the task is cancelled while it waits.
  func take() async throws -> (event: SocketSession.Event, hasRoomAgain: Bool) {
    if let (event, hasRoomAgain) = takeKept() { return (event, hasRoomAgain) }
    let event = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (reader: Reader) in
        let kept: Result<SocketSession.Event, any Error>? = state.withLock { state in
          if state.isCancelled { return .failure(CancellationError()) }
          if let event = state.takeFirst() { return .success(event) }
          state.reader = reader
          return nil
        }
        if let kept { reader.resume(with: kept) }
      }
    } onCancel: {
      cancel()
    }
    return (event, false)
  }

  /// Resumes the reader with an error, and drops all further events.
  func cancel() {
    let reader: Reader? = state.withLock { state in
      state.isCancelled = true
      state.events = []
      state.taken = 0
      state.bytes = 0
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(throwing: CancellationError())
  }

  private func takeKept() -> (SocketSession.Event, Bool)? {
    state.withLock { state in
      guard let event = state.takeFirst() else { return nil }
      // At half of the limits, so that reading is not paused and resumed for each result.
      guard state.isFull, state.count <= maximumResults / 2, state.bytes <= maximumBytes / 2 else { return (event, false) }
      state.isFull = false
      return (event, true)
    }
  }
}

extension SocketSession.Event {
  /// The size of the event in the buffer, in bytes.
  fileprivate var bytes: Int {
    switch self {
    case .result(let payload), .errors(let payload): payload.count
    case .state, .complete, .failed: 0
    }
  }
}
