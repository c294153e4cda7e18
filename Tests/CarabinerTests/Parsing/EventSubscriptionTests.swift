import Carabiner
import FoundationEssentials
import Testing

@Suite("Subscriptions over event streams (GraphQL over SSE, distinct connections mode)")
struct EventSubscriptionTests {
  private static let type = "text/event-stream; charset=utf-8"

  private func next(_ count: Int) -> String { "event: next\ndata: {\"data\":{\"count\":\(count)}}\n\n" }
  private func data(_ count: Int) -> String { #"{"data":{"count":\#(count)}}"# }

  private func outcome(
    _ chunks: String..., limits: ResponseLimits = ResponseLimits(),
    tail: (@Sendable (Int) async throws -> PullStream<Data>.Step)? = nil
  ) async throws -> Outcome {
    let transport = ChunkTransport(chunks, contentType: Self.type, tail: tail)
    return try await ApolloClient.testing(transport).outcome(of: CountSubscription())
  }

  @Test("each event next is a result, comments are pings, and complete ends the stream")
  func results() async throws {
    let outcome = try await outcome(next(1) + ":\n\n", ": ping\n\n" + next(2), "event: complete\ndata:\n\n")
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(1), data(2)])
    #expect(outcome.hasNext == [true, true])
  }

  @Test("errors of a result are results, and events of other types are skipped")
  func errors() async throws {
    let text = #"{"errors":[{"message":"no"}]}"#
    let outcome = try await outcome("event: next\ndata: \(text)\n\nevent: other\ndata: x\n\ndata: y\n\nevent: complete\n\n")
    #expect(outcome.error == nil)
    #expect(outcome.results == [text])
  }

  @Test("results without a name are results, and other data without a name is a heartbeat")
  func unnamed() async throws {
    let outcome = try await outcome(
      "data: \(data(1))\n\n", "data: {}\n\ndata:\n\ndata: ping\n\n", "event: message\ndata: \(data(2))\n\n",
      next(3) + "event: complete\n\n")
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(1), data(2), data(3)])
  }

  @Test("no result is read behind the event complete")
  func afterComplete() async throws {
    let outcome = try await outcome(next(1) + "event: complete\n\n" + next(2)) { _ in .element(Data(self.next(3).utf8)) }
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(1)])
  }

  @Test("a stream that ends without complete is an error, after its results")
  func truncated() async throws {
    for rest in ["", "event: next\n", "event: complete\n", ":"] {
      let outcome = try await outcome(next(1) + rest)
      #expect(outcome.results == [data(1)])
      #expect(outcome.parsingCode == .truncated)
    }
  }

  @Test("an event that is not a GraphQL response is an error", arguments: ["{", "[]", "7", "{}", "", "null"])
  func badEvents(_ text: String) async throws {
    let outcome = try await outcome(next(1), "event: next\ndata: \(text)\n\n", next(2))
    #expect(outcome.results == [data(1)])
    #expect(outcome.parsingCode == .notAGraphQLResponse || outcome.parsingCode == .invalidJSON)
  }

  @Test("a line without end is refused at the limit for parts")
  func endlessLine() async throws {
    let interceptors = JSONResponseParsingInterceptor(limits: ResponseLimits(maximumPartBytes: 10_000))
    let transport = ChunkTransport(["event: next\ndata: "], contentType: Self.type) { _ in
      .element(Data(repeating: UInt8(ascii: "x"), count: 1000))
    }
    let request = JSONRequest(operation: CountSubscription(), endpoint: URL(filePath: "/"))
    let response = try await transport.send(try request.toURLRequest())
    let results = try await interceptors.parse(response: response, for: request, includeCacheRecords: false)
    await #expect(throws: ResponseParsingError.self) { for try await _ in results {} }
    #expect(transport.asks < 20)
  }

  @Test("queries and mutations get no event stream")
  func query() async throws {
    let transport = ChunkTransport(["event: next\ndata: {\"data\":{}}\n\n"], contentType: Self.type)
    let outcome = try await ApolloClient.testing(transport).outcome(of: DynamicOperation(document: "{ a }"))
    #expect(outcome.results.isEmpty && outcome.parsingCode == .invalidJSON)
  }

  @Test("the option subscriptionFormat asks for events, and only in subscriptions")
  func accept() throws {
    let options = WireOptions(subscriptionFormat: .events)
    func accept(_ operation: some GraphQLOperation) throws -> String? {
      try JSONRequest(operation: operation, endpoint: URL(filePath: "/"), wireOptions: options).toURLRequest().headers["Accept"]
    }
    #expect(try accept(CountSubscription()) == "text/event-stream")
    #expect(try accept(DynamicOperation(document: "{ a }"))?.contains("event-stream") == false)
  }
}
