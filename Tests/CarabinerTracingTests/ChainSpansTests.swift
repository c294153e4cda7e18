import Carabiner
import CarabinerCurl
import CarabinerTracing
import CarabinerWire
import FoundationEssentials
import InMemoryTracing
import ScriptedServer
import Synchronization
import Testing
import Tracing

/// Spans of a chain with an independent tracer.
@Suite("spans of a chain")
struct ChainSpansTests {
  private let tracer = InMemoryTracer()
  private let operation = DynamicOperation(document: "query Title { a }", operationName: "Title")

  private func client(_ server: ScriptedServer) throws -> ApolloClient {
    let url = try #require(URL(string: "\(server.origin)/graphql?key=hidden"))
    return ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: url, httpTransport: try CurlTransport()))
  }

  private func run(_ client: ApolloClient, _ spans: ChainSpans) async throws {
    let results = try client.results(
      of: operation, cachePolicy: .networkOnly, configuration: RequestConfiguration(tracer: spans))
    for try await _ in results {}
  }

  @Test("spans of stages and transfers are children of the caller's span, and the server gets the context")
  func whole() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
    let outer = tracer.startSpan("outer", context: .topLevel)
    try await run(try client(server), ChainSpans(tracer, parent: outer.context, attributes: ["team": "a"]))
    outer.end()
    let spans = tracer.finishedSpans
    let whole = try #require(spans.first { $0.operationName == "outer" })
    let inner = spans.filter { $0.spanID != whole.spanID }
    #expect(inner.count > 1)
    #expect(inner.allSatisfy { $0.parentSpanID == whole.spanID && $0.traceID == whole.traceID })
    #expect(
      inner.allSatisfy {
        whole.startInstant.nanosecondsSinceEpoch <= $0.startInstant.nanosecondsSinceEpoch
          && $0.startInstant.nanosecondsSinceEpoch <= $0.endInstant.nanosecondsSinceEpoch
      })
    let transfer = try #require(inner.first { $0.kind == .client })
    #expect(transfer.attributes.get("http.response.status_code") == .int64(200))
    #expect(transfer.attributes.get("url.full") == .string("\(server.origin)/graphql"))
    #expect(server.requests.first?.header(InMemoryTracer.spanIDKey) == transfer.spanID)
    let stages = inner.filter { $0.kind == .internal }
    #expect(stages.allSatisfy { $0.attributes.get("team") == .string("a") })
    #expect(stages.contains { $0.attributes.get("carabiner.kind") == .string("parsing") })
  }

  @Test("each attempt has its own transfer span, and failed ones are marked")
  func attempts() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond("503 Service Unavailable", headers: "Retry-After: 0\r\n")
      })
    await #expect(throws: (any Error).self) { try await run(try client(server), ChainSpans(tracer)) }
    let transfers = tracer.finishedSpans.filter { $0.kind == .client }
    #expect(transfers.count == server.requests.count)
    #expect(transfers.allSatisfy { $0.status?.code == .error && $0.attributes.get("error.type") == .string("503") })
    #expect(tracer.finishedSpans.contains { $0.kind == .internal && $0.status?.code == .error })
  }

  @Test("a server that is gone ends the transfer with what went wrong")
  func gone() async throws {
    let url = try #require(URL(string: "http://127.0.0.1:9/"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: url, httpTransport: try CurlTransport()))
    await #expect(throws: (any Error).self) {
      try await run(client, ChainSpans(tracer, redact: { $0.replacing("127.0.0.1", with: "[hidden]") }))
    }
    let transfer = try #require(tracer.finishedSpans.first { $0.kind == .client })
    #expect(transfer.attributes.get("error.type") == .string("cannotConnect"))
    #expect(transfer.status?.message?.contains("[hidden]") == true)
    #expect(transfer.status?.message?.contains("127.0.0.1") == false)
    #expect(tracer.activeSpans.isEmpty)
  }

  /// Returns two results, and then fails if an error is set.
  private struct TwoResults: ResultTransport {
    private final class Countdown: Sendable {
      let value = Atomic(2)
    }

    var failure: WebSocketError?

    func results<Request: GraphQLRequest>(for request: Request) async throws -> PullStream<GraphQLResponse<Request.Operation>> {
      if request.operation.operationType == .query, let failure { throw failure }
      let response = try GraphQLResponse<Request.Operation>(json: ["data": ["a": 1]], source: .server)
      let left = Countdown()
      return PullStream { [failure] in
        if left.value.subtract(1, ordering: .relaxed).newValue >= 0 { return .element(response) }
        if let failure { throw failure }
        return .end
      }
    }
  }

  @Test(
    "an operation over a WebSocket is one transfer, from its beginning to its last result or error",
    arguments: [GraphQLOperationType.query, .subscription], [nil, WebSocketError(.connectionLost, "it is gone", url: "")])
  func socket(_ type: GraphQLOperationType, _ failure: WebSocketError?) async throws {
    let url = try #require(URL(string: "wss://user:secret@example.org/graphql?key=hidden"))
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(endpointURL: url, resultTransport: TwoResults(failure: failure)))
    let operation = DynamicOperation(document: "\(type) { a }", operationName: nil, operationType: type)
    var count = 0
    do {
      let results = try client.results(
        of: operation, cachePolicy: .networkOnly, configuration: RequestConfiguration(tracer: ChainSpans(tracer)))
      for try await _ in results {
        count += 1
        if count == 1 { #expect(tracer.activeSpans.count == 1) }
      }
      #expect(failure == nil)
    } catch {
      #expect(failure != nil)
    }
    #expect(count == (type == .query && failure != nil ? 0 : 2))
    let transfer = try #require(tracer.finishedSpans.first { $0.kind == .client })
    #expect(transfer.operationName == type.rawValue)
    #expect(transfer.attributes.get("url.full") == .string("wss://example.org/graphql"))
    #expect(transfer.attributes.get("server.port") == .int64(443))
    #expect(transfer.attributes.get("network.protocol.name") == .string("websocket"))
    #expect(transfer.attributes.get("error.type") == failure.map { .string($0.code.rawValue) })
    #expect(tracer.activeSpans.isEmpty)
    #expect(!tracer.finishedSpans.contains { $0.attributes.get("carabiner.kind") == .string("transport") })
  }

  @Test("spans above the limit are dropped, except for transfers")
  func limit() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
    try await run(try client(server), ChainSpans(tracer, maximumSpans: 1))
    #expect(tracer.finishedSpans.filter { $0.kind == .internal }.count == 1)
    #expect(tracer.finishedSpans.filter { $0.kind == .client }.count == 1)
  }
}
