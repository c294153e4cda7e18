internal import Synchronization

/// The caller's end of a stream: keeps results in the order of the contract, and hands them over.
package final class StreamSink<Output: Sendable>: Sendable {
  private enum Target {
    case buffer(ResultBuffer<Output>)
    case callback(CallQueue, @Sendable (StreamResult<Output>) -> Void)
  }

  fileprivate struct State {
    var headers: StreamResult<Output>?
    /// The message of a client stream, which waits for the end.
    var message: StreamResult<Output>?
    var isOver = false
    /// Callbacks that have not run.
    var waiting = 0
    var hasRoom: (@Sendable () -> Void)?
  }

  private let target: Target
  private let isSingle: Bool
  private let state = Mutex(State())

  /// A sink that calls a closure, on a thread of the library.
  ///
  /// - Parameter isSingle: Whether the response must have exactly one message.
  package init(isSingle: Bool, _ callback: @escaping @Sendable (StreamResult<Output>) -> Void) {
    self.isSingle = isSingle
    target = .callback(CallQueue(), callback)
  }

  /// A sink whose results the caller reads from a buffer.
  init(isSingle: Bool, _ buffer: ResultBuffer<Output>) {
    self.isSingle = isSingle
    target = .buffer(buffer)
  }

  /// The number of results that the caller has not got.
  var count: Int {
    switch target {
    case .buffer(let buffer): buffer.count
    case .callback: state.withLock { $0.waiting }
    }
  }

  /// Sets the function that is called when the caller gets a result.
  func onRoom(_ hasRoom: @escaping @Sendable () -> Void) { state.withLock { $0.hasRoom = hasRoom } }

  /// The caller got a result.
  func resultWasTaken() { state.withLock { $0.hasRoom }?() }

  /// Takes a result from the hooks, and returns the results that the caller now gets.
  func admit(_ result: StreamResult<Output>) -> [StreamResult<Output>] {
    state.withLock { state in
      switch result {
      case .headers:
        guard state.headers == nil else { return [] }
        state.headers = result
        return isSingle ? [] : [result]
      case .message:
        guard isSingle else { return [result] }
        guard state.message == nil else { return state.held + [.failed(.messageCount("more than one message"))] }
        state.message = result
        return []
      case .complete(let code, _, _):
        guard isSingle else { return [result] }
        guard code == .ok else { return state.held + [result] }
        guard let message = state.message else { return state.held + [.failed(.messageCount("no message"))] }
        return state.held + [message, result]
      }
    }
  }

  /// Hands a result over. After the end, it is dropped.
  func deliver(_ result: StreamResult<Output>) {
    let isDropped = state.withLock { state in
      defer { state.isOver = state.isOver || result.isComplete }
      if !state.isOver { state.waiting += 1 }
      return state.isOver
    }
    guard !isDropped else { return }
    switch target {
    case .buffer(let buffer): buffer.add(result)
    case .callback(let queue, let callback):
      queue.add {
        callback(result)
        self.state.withLock { $0.waiting -= 1 }
        self.resultWasTaken()
      }
    }
  }
}

extension StreamSink.State {
  /// The headers that a client stream holds back.
  fileprivate var held: [StreamResult<Output>] { headers.map { [$0] } ?? [] }
}

extension ConnectError {
  fileprivate static func messageCount(_ found: String) -> ConnectError {
    ConnectError(
      code: .unimplemented, message: "the response to a client stream has \(found), and must have one; check the server")
  }
}
