internal import Carabiner
internal import FoundationEssentials
internal import Synchronization

/// One request of an HTTP client, and its response.
struct HTTPExchange: Sendable {
  /// How much of a body is read after it has no more meaning, so that the connection can be used again.
  private static let drainedBytes = 64 << 10
  private static let drainTime = Duration.milliseconds(100)

  private let request: HTTPRequest<Data?>
  private let chain: Result<HTTPChain, any Error>
  private let context: Carabiner.RequestContext
  private let counters = ExchangeCounters()

  init(
    _ request: HTTPRequest<Data?>, over transport: Result<any HTTPTransport, any Error>,
    stages: (any Carabiner.InterceptorProvider)?, tracer: (any ChainTracer)?
  ) {
    self.request = request
    let context = Carabiner.RequestContext(tracer: tracer)
    self.context = context
    let operation = request.exchange?.operation ?? DynamicOperation(document: "", operationName: request.url.path())
    chain = transport.flatMap { transport in
      Result {
        let interceptors = try stages?.interceptors(for: operation, context: context).http ?? []
        // Bodies of errors have a meaning, so the interceptor for the status must not hide them.
        return HTTPChain(
          interceptors: interceptors.filter { !($0 is Carabiner.ResponseCodeInterceptor) }, transport: transport, context: context
        )
      }
    }
  }

  /// The largest number of bytes of a response, and of a body that waits.
  var maximumBytes: Int { request.exchange?.maximumBytes ?? ProtocolOptions.defaultMaximumMessageBytes }

  /// The figures until now.
  var metrics: HTTPMetrics { counters.metrics(attempts: context.attempt + 1) }

  // MARK: Unary

  /// Sends the request, and reads the whole response.
  func response() async -> HTTPResponse {
    do {
      let sent = request.wire(body: request.message.map { .data($0) })
      counters.sent(request.message?.count ?? 0)
      return try await chain.get().send({ sent }, reading: read)
    } catch {
      return HTTPResponse(failure: ConnectError(sending: error))
    }
  }

  private func read(_ response: Carabiner.HTTPResponse) async throws -> HTTPResponse {
    counters.headArrived()
    var body = Data()
    for try await chunk in response.chunks {
      counters.received(chunk.count)
      guard body.count + chunk.count <= maximumBytes else {
        throw ConnectError(
          code: .resourceExhausted,
          message: "the response is longer than \(maximumBytes) bytes; raise maximumMessageBytes")
      }
      body.append(chunk)
    }
    let status = response.response.statusCode
    return HTTPResponse(
      code: Code.fromHTTPStatus(status), headers: Headers(received: response.response.headers), message: body, trailers: [:],
      error: nil,
      tracingInfo: .init(httpStatus: status))
  }

  // MARK: Streams

  /// Sends the request, and delivers the response while it arrives.
  ///
  /// - Returns: How the exchange ended.
  func stream(_ pipe: RequestPipe, to callbacks: ResponseCallbacks) async -> (Code, (any Error)?) {
    do {
      let sent = request.wire(body: try await body(pipe))
      defer { counters.sent(pipe.sentBytes) }
      return (try await chain.get().send({ sent }, reading: { try await deliver($0, to: callbacks) }), nil)
    } catch {
      let error = ConnectError(sending: error)
      return (error.code, error)
    }
  }

  private func body(_ pipe: RequestPipe) async throws -> HTTPBody {
    guard request.exchange?.isWhole == true else { return .stream(pipe.chunks) }
    return .data(try await pipe.chunks.collected())
  }

  private func deliver(_ response: Carabiner.HTTPResponse, to callbacks: ResponseCallbacks) async throws -> Code {
    counters.headArrived()
    let status = response.response.statusCode
    request.exchange?.status = status
    callbacks.receiveResponseHeaders(Headers(received: response.response.headers))
    do {
      try await deliverBody(of: response, to: callbacks)
    } catch is HTTPRetry {
      throw ConnectError(
        code: .aborted, message: "an HTTP interceptor asked for a retry after a part of the response was delivered")
    }
    return Code.fromHTTPStatus(status)
  }

  private func deliverBody(of response: Carabiner.HTTPResponse, to callbacks: ResponseCallbacks) async throws {
    var iterator = response.chunks.makeAsyncIterator()
    while true {
      await request.exchange?.flow.wait()
      if request.exchange?.isComplete == true { return await drain(response.chunks) }
      guard let chunk = try await iterator.next() else { return }
      counters.received(chunk.count)
      callbacks.receiveResponseData(chunk)
    }
  }

  /// Reads a little more, so that the connection can be used again if the response ends soon.
  private func drain(_ chunks: PullStream<Data>) async {
    await withTaskGroup { group in
      group.addTask {
        var count = 0
        var iterator = chunks.makeAsyncIterator()
        while count <= Self.drainedBytes, let chunk = try? await iterator.next() { count += chunk.count }
      }
      group.addTask { try? await Task.sleep(for: Self.drainTime) }
      await group.next()
      group.cancelAll()
    }
  }
}

extension HTTPRequest<Data?> {
  /// The request of the core.
  fileprivate func wire(body: HTTPBody?) -> URLRequest {
    var request = URLRequest(url: url, httpMethod: method.rawValue, timeoutInterval: .infinity)
    request.headers = HTTPHeaders(
      headers.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value.joined(separator: ",")) })
    request.body = method == .get ? nil : body
    request.isIdempotent = method == .get || idempotencyLevel != .unknown
    request.decodesContent = false
    return request
  }
}

/// Counts what an exchange sends and receives.
private final class ExchangeCounters: Sendable {
  private struct State {
    var timeToHead: Duration?
    var sent = 0
    var received = 0
  }

  private let start = ContinuousClock.now
  private let state = Mutex(State())

  func headArrived() { state.withLock { $0.timeToHead = .now - start } }
  func sent(_ count: Int) { state.withLock { $0.sent = count } }
  func received(_ count: Int) { state.withLock { $0.received += count } }

  func metrics(attempts: Int) -> HTTPMetrics {
    let state = state.withLock { $0 }
    return HTTPMetrics(
      duration: .now - start, timeToHead: state.timeToHead, sentBytes: state.sent, receivedBytes: state.received,
      attempts: attempts)
  }
}
