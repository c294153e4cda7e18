internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// The completions of one transfer, and what has arrived of its response.
final class ClientTransfer: @unchecked Sendable {
  // Immutable, but for what is behind a mutex.

  private struct State: @unchecked Sendable {
    var raw: URLSessionClient.RawCompletion?
    var completion: URLSessionClient.Completion?
    var head: HTTPURLResponse?
    var received = Data()
  }

  let task: URLSessionDataTask
  /// Whether everything received must be kept for the raw completion.
  private let keepsAll: Bool
  private let state: Mutex<State>

  init(_ task: URLSessionDataTask, raw: URLSessionClient.RawCompletion?, _ completion: @escaping URLSessionClient.Completion) {
    self.task = task
    keepsAll = raw != nil
    state = Mutex(State(raw: raw, completion: completion))
  }

  func received(_ head: HTTPURLResponse) { state.withLock { $0.head = head } }

  /// Keeps a piece of the body, of a response that is read as a whole or for the raw completion.
  func received(_ data: Data, isWhole: Bool) {
    guard isWhole || keepsAll else { return }
    state.withLock { $0.received.append(data) }
  }

  func deliver(_ body: Data, _ head: HTTPURLResponse, isLast: Bool) {
    let completion = state.withLock { $0.completion }
    if isLast { callRaw(nil) }
    completion?(.success((body, head)))
  }

  /// Reports an error and forgets the completions.
  func fail(_ error: any Error) {
    let completion = state.withLock { state in
      defer { state.completion = nil }
      return state.completion
    }
    callRaw(error)
    completion?(.failure(error))
  }

  /// Reports that the transfer failed, with the parts that had arrived. The errors of HTTP interceptors stay as they are.
  func failTransfer(_ error: any Error) {
    let (data, head) = state.withLock { ($0.received, $0.head) }
    let isOfTransfer = error is TransportError || error is CancellationError
    fail(
      isOfTransfer ? URLSessionClient.URLSessionClientError.networkError(data: data, response: head, underlying: error) : error)
  }

  /// Calls the raw completion, if it was not called yet.
  func callRaw(_ error: (any Error)?) {
    let (raw, data, head) = state.withLock { state in
      defer { state.raw = nil }
      return (state.raw, state.received, state.head)
    }
    raw?(head == nil ? nil : data, head, error)
  }

  func clear() {
    let dropped = state.withLock { state in
      defer { (state.raw, state.completion) = (nil, nil) }
      return (state.raw, state.completion)
    }
    // Released here, outside the lock, because releasing runs code of the user.
    withExtendedLifetime(dropped) {}
  }
}
