import Carabiner
import FoundationEssentials
import TestTools
import Testing

@Suite("Subscriptions over multipart HTTP")
struct MultipartSubscriptionTests {
  private func payload(_ count: Int) -> String { #"{"payload":{"data":{"count":\#(count)}}}"# }
  private func data(_ count: Int) -> String { #"{"data":{"count":\#(count)}}"# }

  private func outcome(_ chunks: [String], contentType: String = ChunkTransport.subscription) async throws -> Outcome {
    try await ApolloClient.testing(ChunkTransport(chunks, contentType: contentType)).outcome(of: CountSubscription())
  }

  @Test("payloads are results, heartbeats are not, and the close delimiter ends the stream", .rule("multipart.5"))
  func payloads() async throws {
    let outcome = try await outcome([parts("{}", payload(1), "{ }", payload(2), "{}")])
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(1), data(2)])
    #expect(outcome.hasNext == [true, true])
  }

  @Test("a null payload with errors ends the subscription with these errors", .rule("multipart.5"))
  func transportErrors() async throws {
    let outcome = try await outcome([
      parts(payload(1), #"{"payload":null,"errors":[{"message":"gone","extensions":{"code":"GONE"}}]}"#, payload(2))
    ])
    #expect(outcome.results == [data(1)])
    let error = try #require(outcome.error as? SubscriptionError)
    #expect(error.errors.map(\.message) == ["gone"])
    #expect(error.errors.map(\.code) == ["GONE"])
  }

  @Test("errors beside a payload end the subscription after it", .rule("multipart.5"))
  func errorsBesidePayload() async throws {
    let outcome = try await outcome([parts(#"{"payload":{"data":{"count":1}},"errors":[{"message":"gone"}]}"#, payload(2))])
    #expect(outcome.results == [data(1)])
    #expect(outcome.hasNext == [false])
    #expect(outcome.error is SubscriptionError)
  }

  @Test("errors inside a payload are those of a result", .rule("multipart.5"))
  func errorsInPayload() async throws {
    let text = #"{"data":null,"errors":[{"message":"no"}]}"#
    let outcome = try await outcome([parts(#"{"payload":\#(text)}"#, payload(2))])
    #expect(outcome.error == nil)
    #expect(outcome.results == [text, data(2)])
  }

  @Test(
    "parts without a valid payload are refused",
    arguments: [#"{"payload":7}"#, #"{"payload":{}}"#, #"{"payload":null,"errors":"x"}"#, "[]", "{", "null"])
  func badParts(part: String) async throws {
    let outcome = try await outcome([parts(payload(1), part)])
    #expect(outcome.results == [data(1)])
    #expect(outcome.parsingCode == .notAGraphQLResponse || outcome.parsingCode == .invalidJSON)
  }

  @Test(
    "a part without a payload and without errors is ignored", .rule("detail.5"),
    arguments: [
      #"{"payload":null}"#, #"{"payload":null,"errors":null}"#, #"{"payload":null,"errors":[]}"#, #"{"errors":null}"#,
      #"{"load":{},"extensions":{"x":1}}"#,
    ])
  func emptyParts(part: String) async throws {
    let outcome = try await outcome([parts(payload(1), part, payload(2))])
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(1), data(2)])
  }

  @Test("a subscription that is answered with one JSON text has one result")
  func wholeResponse() async throws {
    let outcome = try await outcome([data(7)], contentType: "application/json")
    #expect(outcome.error == nil)
    #expect(outcome.results == [data(7)])
  }

  @Test("subscribe returns typed results, and asks for parts")
  func typed() async throws {
    let transport = RecordingTransport { request, _ in
      .json(parts(payload(1), payload(2)), headers: ["Content-Type": ChunkTransport.subscription], to: request)
    }
    var counts: [Int?] = []
    for try await response in try ApolloClient.testing(transport).subscribe(subscription: CountSubscription()) {
      counts.append(try response.data?.count)
    }
    #expect(counts == [1, 2])
    let request = try #require(transport.requests.first)
    #expect(request.headers["Accept"]?.contains("subscriptionSpec=1.0") == true)
    #expect(request.timeoutInterval == .infinity)
  }

  @Test("C: a subscription first returns the cached data, unless its policy says otherwise")
  func cacheThenNetwork() async throws {
    let client = try ApolloClient.testing(
      ChunkTransport([parts(payload(1), payload(2))], contentType: ChunkTransport.subscription))
    for try await _ in try client.subscribe(subscription: CountSubscription()) {}
    let again = try ApolloClient.testing(
      ChunkTransport([parts(payload(3))], contentType: ChunkTransport.subscription), store: client.store)
    var sources: [GraphQLResponse<CountSubscription>.Source] = []
    for try await response in try again.subscribe(subscription: CountSubscription()) { sources.append(response.source) }
    #expect(sources == [.cache, .server])
    sources = []
    let third = try ApolloClient.testing(
      ChunkTransport([parts(payload(3))], contentType: ChunkTransport.subscription), store: client.store)
    for try await response in try third.subscribe(subscription: CountSubscription(), cachePolicy: .networkOnly) {
      sources.append(response.source)
    }
    #expect(sources == [.server])
  }

  @Test("endless heartbeats are ended by the idle timeout", .timeLimit(.minutes(1)))
  func idleTimeout() async throws {
    let transport = ChunkTransport([parts(payload(1), closed: false)], contentType: ChunkTransport.subscription) { _ in
      try await Task.sleep(for: .milliseconds(5))
      return .element(Data("\r\n\r\n{}\r\n--b".utf8))
    }
    let parser = JSONResponseParsingInterceptor(limits: ResponseLimits(idleTimeout: .seconds(2)))
    let start = ContinuousClock.now
    let outcome = try await ApolloClient.testing(transport, provider: ListProvider(parser: parser))
      .outcome(of: CountSubscription())
    #expect(outcome.results == [data(1)])
    #expect((outcome.error as? RequestChainError)?.code == .idle)
    #expect(ContinuousClock.now - start >= .seconds(2))
    // At least one part and one heartbeat. The number of further reads depends on the machine.
    #expect(transport.asks >= 2)
  }

  @Test("cancelling the reader ends a subscription that says nothing", .rule("chain.12"), .timeLimit(.minutes(1)))
  func cancellation() async throws {
    let journal = Journal()
    let transport = ChunkTransport([parts(payload(1), closed: false)], contentType: ChunkTransport.subscription) { _ in
      journal.note("waiting")
      do {
        try await Task.sleep(for: .seconds(600))
      } catch {
        journal.note("cancelled")
        throw error
      }
      return .end
    }
    let client = try ApolloClient.testing(transport)
    let task = Task { try await client.outcome(of: CountSubscription()) }
    while journal.entries.isEmpty { await Task.yield() }
    task.cancel()
    let outcome = try await task.value
    #expect(outcome.results == [data(1)])
    #expect(outcome.error is CancellationError)
    #expect(journal.entries == ["waiting", "cancelled"])
  }

  @Test("20,000 results are read one by one, and none is asked for before the last one was taken", .rule("chain.11"))
  func manyResults() async throws {
    let transport = ChunkTransport(["--b"], contentType: ChunkTransport.subscription) { number in
      number < 20_000
        ? .element(Data("\r\n\r\n{\"payload\":{\"data\":{\"count\":\(number)}}}\r\n--b".utf8)) : .last(Data("--".utf8))
    }
    var count = 0
    for try await response in try ApolloClient.testing(transport).subscribe(subscription: CountSubscription()) {
      try #require(try response.data?.count == count)
      count += 1
      try #require(transport.asks == count + 1)
    }
    #expect(count == 20_000)
  }
}
