internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// Sends the requests of a chain of the core with a client of this generation.
struct ClientHTTPTransport: HTTPTransport {
  let client: Transferred<URLSessionClient>

  func send(_ request: URLRequest) async throws -> Carabiner.HTTPResponse {
    let reply = ClientReply()
    let task = start(request, reply)
    let (body, head) = try await withTaskCancellationHandler {
      try await reply.value()
    } onCancel: {
      reply.settle(.failure(CancellationError()))
      client.value.cancel(task: task)
    }
    return Carabiner.HTTPResponse(response: head, chunks: PullStream(body))
  }

  // A function of its own, so that nothing here keeps the completions while they are awaited.
  @inline(never) private func start(_ request: URLRequest, _ reply: ClientReply) -> URLSessionTask {
    let completions = ClientCompletions(reply)
    return client.value.sendRequest(
      request, taskDescription: nil, rawTaskCompletionHandler: { data, head, _ in completions.completed(data, head) },
      completion: { result in completions.received(result) })
  }
}

/// The completions of one request, which may be released without a call.
private final class ClientCompletions: Sendable {
  private struct State {
    var whole: (Data, HTTPURLResponse)?
    /// The last result of a response in parts.
    var part: (Data, HTTPURLResponse)?
  }

  private let state = Mutex(State())
  private let reply: ClientReply

  init(_ reply: ClientReply) { self.reply = reply }

  deinit {
    let state = state.withLock { $0 }
    // A client of the user that reports no whole body has merged the parts itself.
    guard var received = state.whole ?? state.part else { return reply.settle(.failure(PipelineError.noReply)) }
    if state.whole == nil { received.1.headers["Content-Type"] = "application/json" }
    reply.settle(.success(received))
  }

  func completed(_ body: Data?, _ head: HTTPURLResponse?) {
    guard let head else { return }
    state.withLock { $0.whole = (body ?? Data(), head) }
  }

  func received(_ result: Result<(Data, HTTPURLResponse), any Error>) {
    switch result {
    case .failure(let error): reply.settle(.failure(error))
    case .success(let (body, head)):
      guard head.isMultipart else { return reply.settle(.success((body, head))) }
      let whole = state.withLock { state in
        state.part = (body, head)
        return state.whole
      }
      if let whole { reply.settle(.success(whole)) }
    }
  }
}

/// The response that a client returns, when it arrives.
private final class ClientReply: Sendable {
  typealias Value = (Data, HTTPURLResponse)

  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case settled(Result<Value, any Error>)
  }

  private let state = Mutex(State.open)

  func value() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let settled: Result<Value, any Error>? = state.withLock { state in
        if case .settled(let result) = state { return result }
        state = .waiting(continuation)
        return nil
      }
      if let settled { continuation.resume(with: settled) }
    }
  }

  func settle(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
      switch state {
      case .settled: return nil
      case .open:
        state = .settled(result)
        return nil
      case .waiting(let continuation):
        state = .settled(result)
        return continuation
      }
    }
    waiting?.resume(with: result)
  }
}
