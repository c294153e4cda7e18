import Carabiner
import CarabinerWire
import FoundationEssentials
import TestTools
import Testing

@Suite("The state of a subscription", .timeLimit(.minutes(1)))
struct SubscriptionStateTests {
  private func payload(_ count: Int) -> String { #"{"payload":{"data":{"count":\#(count)}}}"# }

  @Test("over multipart HTTP it is pending until the head has come, then active, then finished")
  func multipart() async throws {
    let transport = ChunkTransport([parts(payload(1), payload(2))], contentType: ChunkTransport.subscription)
    let stream = try ApolloClient.testing(transport).subscribe(subscription: CountSubscription())
    let states = stream.states
    #expect(stream.state == .pending)
    var iterator = stream.makeAsyncIterator()
    _ = try await iterator.next()
    #expect(stream.state == .active)
    while try await iterator.next() != nil {}
    #expect(stream.state == .finished)
    #expect(await states.reduce(into: []) { $0.append($1) } == [.pending, .active, .finished])
    // A late reader still receives the final state.
    #expect(await stream.states.reduce(into: []) { $0.append($1) } == [.finished])
  }

  @Test("a subscription says why it finished: its end, an error, its reader", .rule("detail.18"))
  func reasons() async throws {
    let ended = try ApolloClient.testing(ChunkTransport([parts(payload(1))], contentType: ChunkTransport.subscription))
      .subscribe(subscription: CountSubscription())
    if case .some = ended.end { Issue.record("it has not begun") }
    for try await _ in ended {}
    guard case .completed? = ended.end else { throw CancellationError() }

    let failing = try ApolloClient.testing(ChunkTransport([parts(#"{"payload":7}"#)], contentType: ChunkTransport.subscription))
      .subscribe(subscription: CountSubscription())
    await #expect(throws: ResponseParsingError.self) { for try await _ in failing {} }
    guard case .failed(let error)? = failing.end else { throw CancellationError() }
    #expect((error as? ResponseParsingError)?.code == .notAGraphQLResponse)

    let silent = ChunkTransport([parts(payload(1), closed: false)], contentType: ChunkTransport.subscription) { _ in
      try await Task.sleep(for: .seconds(600))
      return .end
    }
    let left = try ApolloClient.testing(silent).subscribe(subscription: CountSubscription())
    let (states, steps) = (left.states, AsyncStream.makeStream(of: Void.self))
    let task = Task {
      for try await _ in left { steps.continuation.yield() }
    }
    for await _ in steps.stream { break }
    task.cancel()
    _ = await task.result
    for await _ in states {}
    guard case .cancelled? = left.end else { throw CancellationError() }
  }

  @Test("another status than 2xx never makes it active")
  func refused() async throws {
    let transport = RecordingTransport(json: "{}", status: 503)
    let stream = try ApolloClient.testing(transport, provider: ListProvider(http: [ResponseCodeInterceptor()]))
      .subscribe(subscription: CountSubscription())
    let states = stream.states
    await #expect(throws: ResponseCodeError.self) { for try await _ in stream {} }
    #expect(await states.reduce(into: []) { $0.append($1) } == [.pending, .finished])
  }

  @Test("leaving it finishes it")
  func leaving() async throws {
    let transport = ChunkTransport([parts(payload(1), closed: false)], contentType: ChunkTransport.subscription) { _ in
      try await Task.sleep(for: .seconds(600))
      return .end
    }
    let states: AsyncStream<SubscriptionState>
    do {
      let stream = try ApolloClient.testing(transport).subscribe(subscription: CountSubscription())
      states = stream.states
      for try await _ in stream { break }
      #expect(stream.state == .active)
    }
    #expect(await states.reduce(into: []) { $0.append($1) } == [.pending, .active, .finished])
  }

  @Test("a retry that an interceptor asks for shows as reconnecting")
  func retrying() async throws {
    struct RetryOnce: GraphQLInterceptor {
      func intercept<Request: GraphQLRequest>(
        request: Request, next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        await next(request).map { result in
          if request.context.attempt == 0 { throw RequestChain<Request>.Retry(request: request) }
          return result
        }
      }
    }
    let transport = RecordingTransport { request, _ in
      .json(parts(payload(1)), headers: ["Content-Type": ChunkTransport.subscription], to: request)
    }
    let stream = try ApolloClient.testing(transport, provider: ListProvider(graphQL: [RetryOnce()]))
      .subscribe(subscription: CountSubscription(), cachePolicy: .networkOnly)
    let states = stream.states
    var count = 0
    for try await _ in stream { count += 1 }
    #expect(count == 1)
    #expect(await states.reduce(into: []) { $0.append($1) } == [.pending, .active, .reconnecting, .active, .finished])
  }
}

@Suite("A transport that returns results without HTTP")
struct ResultTransportTests {
  /// Responds with the content of the request.
  private final class EchoTransport: ResultTransport {
    let journal = Journal()

    func results<Request: GraphQLRequest>(
      for request: Request
    ) async throws -> PullStream<GraphQLResponse<Request.Operation>> {
      journal.note(String(decoding: try request.operationPayload(), as: UTF8.self))
      request.context.subscription?.advance(to: .active)
      let responses = try [1, 2].map {
        try GraphQLResponse<Request.Operation>(json: ["data": ["count": .number(.init($0))]], source: .server)
      }
      return PullStream(elements: responses)
    }
  }

  private func client(_ transport: EchoTransport, provider: any InterceptorProvider) throws -> ApolloClient {
    let url = try #require(URL(string: "ws://127.0.0.1/graphql"))
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: url, resultTransport: transport))
  }

  @Test("GraphQL interceptors and cache are passed, HTTP interceptors and parser are not, and the tracer sees the transport")
  func stages() async throws {
    struct Never: HTTPInterceptor {
      func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
        Issue.record("an HTTP interceptor ran")
        return try await next(request)
      }
    }
    struct Counting: GraphQLInterceptor {
      let journal: Journal

      func intercept<Request: GraphQLRequest>(
        request: Request, next: NextInterceptorFunction<Request>
      ) async throws -> InterceptorResultStream<Request> {
        await next(request).map { result in
          journal.note("\(try result.result.data as Any)")
          return result
        }
      }
    }
    final class Tracer: ChainTracer {
      let journal = Journal()
      func record(_ event: StageEvent) { if event.kind == .transport { journal.note("\(event.hook) \(event.outcome)") } }
    }
    let transport = EchoTransport()
    let seen = Journal()
    let tracer = Tracer()
    let client = try client(transport, provider: ListProvider(graphQL: [Counting(journal: seen)], http: [Never()]))
    var counts: [Int?] = []
    let stream = try client.subscribe(
      subscription: CountSubscription(), configuration: RequestConfiguration(tracer: tracer))
    for try await response in stream { counts.append(try response.data?.count) }
    #expect(counts == [1, 2])
    #expect(seen.entries.count == 2)
    #expect(transport.journal.entries == [#"{"operationName":"Count","query":"subscription Count { count }","variables":{}}"#])
    #expect(tracer.journal.entries == ["subscribe asked", "results result, more to come", "results result"])
    #expect(try await client.store.load(CountSubscription())?.data?.count == 2)
  }

  @Test("an upload over it is refused before anything is sent")
  func upload() async throws {
    let transport = EchoTransport()
    let client = try client(transport, provider: ListProvider())
    let operation = DynamicOperation(document: "mutation M($f: Upload!) { save(f: $f) }", operationType: .mutation)
    let error = await #expect(throws: RequestChainError.self) {
      try await client.upload(operation: operation, files: [GraphQLFile(fieldName: "f", path: "/etc/hostname")])
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("only HTTP can send") == true)
    #expect(transport.journal.entries.isEmpty)
  }

  @Test("a split transport sends subscriptions one way, and everything else the other")
  func split() async throws {
    let sockets = EchoTransport()
    let http = RecordingTransport(json: #"{"data":{"count":7,"hero":{"name":"x"}}}"#)
    let store = ApolloStore()
    let url = try #require(URL(string: "http://127.0.0.1/graphql"))
    let transport = SplitNetworkTransport(
      subscriptions: RequestChainNetworkTransport(endpointURL: url, resultTransport: sockets, store: store),
      others: RequestChainNetworkTransport(endpointURL: url, httpTransport: http, store: store))
    let client = ApolloClient(networkTransport: transport, store: store)
    for try await _ in try client.subscribe(subscription: CountSubscription()) {}
    #expect(sockets.journal.entries.count == 1)
    #expect(http.requests.isEmpty)
    _ = try await client.fetch(query: HeroQuery(), cachePolicy: .networkOnly)
    let operation = DynamicOperation(document: "mutation M($f: Upload!) { save(f: $f) }", operationType: .mutation)
    _ = try await client.upload(operation: operation, files: [GraphQLFile(fieldName: "f", path: "/etc/hostname")])
    #expect(http.requests.count == 2)
    #expect(sockets.journal.entries.count == 1)
  }
}
