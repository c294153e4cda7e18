import Carabiner
import FoundationEssentials
import Testing

/// Throws an `HTTPRetry` for a head of status 503, or once a body begins with this text.
private struct RetryingHTTP: HTTPInterceptor {
  var body: String?
  var delay = Duration.zero

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let response = try await next(request)
    if response.response.statusCode == 503 { throw HTTPRetry(after: delay) }
    return response.mapChunks { _, chunk in
      if let body, chunk.starts(with: Data(body.utf8)) { throw HTTPRetry() }
      return chunk
    }
  }
}

private final class EventTracer: ChainTracer {
  let journal = Journal()

  func record(_ event: StageEvent) { journal.note("\(event.kind.rawValue) \(event.stage) \(event.outcome)") }
}

private final class RetryCount: ChainObserver {
  let journal = Journal()

  func cacheReadFailed(_ error: any Error, operationName: String?) {}
  func cacheWriteFailed(_ error: any Error, operationName: String?) {}
  func operationIsRetried() { journal.note("retry") }
}

@Suite("The HTTP chain by itself")
struct HTTPChainTests {
  private let journal = Journal()

  private func chain(
    _ transport: RecordingTransport, _ interceptors: [any HTTPInterceptor] = [RetryingHTTP()], maximumAttempts: Int = 10,
    context: RequestContext = RequestContext(), observer: any ChainObserver = CacheFailureLog()
  ) -> HTTPChain {
    HTTPChain(
      interceptors: interceptors, transport: transport, maximumAttempts: maximumAttempts, context: context, observer: observer)
  }

  private func make(_ url: String = "http://user:secret@127.0.0.1:1/rpc?key=1") throws -> @Sendable () throws -> URLRequest {
    let url = try #require(URL(string: url))
    return { [journal] in
      journal.note("make")
      return URLRequest(url: url, headers: ["X-Call": "1"], httpBody: Data("body".utf8))
    }
  }

  @Test("a request goes down in order and its response comes up reversed, as in a chain")
  func order() async throws {
    let transport = RecordingTransport { [journal] request, _ in
      journal.note("transport")
      return .json("{}", to: request)
    }
    let context = RequestContext()
    let stages = ["h1", "h2"].map { JournalingHTTP(name: $0, journal: journal) }
    let response = try await chain(transport, stages, context: context).send(try make())
    #expect(try await response.chunks.collected() == Data("{}".utf8))
    #expect(journal.entries == ["make", "h1 pre", "h2 pre", "transport", "h2 post", "h1 post"])
    #expect(transport.requests.map(\.headers) == [["X-Call": "1"]])
    #expect(context.httpResponse?.statusCode == 200 && context.attempt == 0)
  }

  @Test("a step that sees only heads is called for those that do not pass", arguments: [200, 500])
  func headsOnly(status: Int) async throws {
    let chain = chain(
      RecordingTransport(json: "fault", status: status),
      [JournalingHTTP(name: "h1", journal: journal), ResponseCodeInterceptor()])
    if status == 200 {
      #expect(try await chain.send(make()).response.statusCode == 200)
    } else {
      let error = await #expect(throws: ResponseCodeError.self) { try await chain.send(make()) }
      #expect(error?.body == Data("fault".utf8))
    }
  }

  @Test("multipart bodies are read by part only if the request says so", arguments: [true, false])
  func parts(takesParts: Bool) async throws {
    let transport = RecordingTransport(json: "{}")
    let make = try make()
    _ = try await chain(transport).send {
      var request = try make()
      request.takesParts = takesParts
      return request
    }
    #expect(transport.requests.map(\.takesParts) == [takesParts])
  }

  // MARK: Retries

  @Test("an HTTPRetry has the request made and sent again, before and while its body is read", arguments: [nil, "bad"])
  func retried(body: String?) async throws {
    let transport = RecordingTransport { request, number in
      .json(number < 3 ? body ?? "busy" : "good", status: number < 3 && body == nil ? 503 : 200, to: request)
    }
    let (context, observer) = (RequestContext(), RetryCount())
    let chain = chain(transport, [RetryingHTTP(body: body)], context: context, observer: observer)
    let text = try await chain.send(make()) { try await $0.chunks.collected() }
    #expect(text == Data("good".utf8))
    #expect(transport.requests.count == 3 && context.attempt == 2)
    #expect(journal.entries == ["make", "make", "make"] && observer.journal.entries == ["retry", "retry"])
  }

  @Test("retries end at the limit, and the error names the request without its secrets", arguments: [1, 4])
  func limit(maximum: Int) async throws {
    let transport = RecordingTransport(json: "busy", status: 503)
    let error = await #expect(throws: RequestChainError.self) {
      try await chain(transport, maximumAttempts: maximum).send(make())
    }
    #expect(error?.code == .retryLimit)
    #expect(error?.message.hasPrefix("the request to http://127.0.0.1:1/rpc was started \(maximum) times") == true)
    #expect(transport.requests.count == maximum)
  }

  @Test("a call that is cancelled while it waits for its retry ends")
  func cancelled() async throws {
    let transport = RecordingTransport(json: "busy", status: 503)
    let (chain, make) = (chain(transport, [RetryingHTTP(delay: .seconds(86_400))]), try make())
    let call = Task { try await chain.send(make) }
    while transport.requests.isEmpty { await Task.yield() }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test("an error of the maker is the error of the call, and nothing is sent")
  func failingMaker() async throws {
    struct Fault: Error {}
    let transport = RecordingTransport(json: "{}")
    await #expect(throws: Fault.self) { try await chain(transport).send { throw Fault() } }
    #expect(transport.requests.isEmpty)
  }

  // MARK: Tracing

  @Test("the tracer of the context gets the events of interceptors and transport")
  func traced() async throws {
    let tracer = EventTracer()
    let chain = chain(
      RecordingTransport(json: "{}"), [JournalingHTTP(name: "h", journal: journal), ResponseCodeInterceptor()],
      context: RequestContext(tracer: tracer))
    _ = try await chain.send(make())
    #expect(
      tracer.journal.entries == [
        "http JournalingHTTP next", "http response-code next", "transport 127.0.0.1 HTTP/1.1 200", "http response-code 200",
        "http JournalingHTTP 200",
      ])
  }
}
