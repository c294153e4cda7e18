import FoundationEssentials
import TestTools
import Testing

@testable import Carabiner

/// Results that a caller reads without the stages of the chain.
@Suite("Results of a subscription that are passed on")
struct PassedResultsTests {
  private typealias Request = JSONRequest<CountSubscription>

  private func results(
    _ chunks: [String], _ contentType: String, passing: Bool = true, records: Bool = false
  ) async throws -> InterceptorResultStream<Request> {
    let request = Request(operation: CountSubscription(), endpoint: URL(filePath: "/"))
    let response = try await ChunkTransport(chunks, contentType: contentType).send(try request.toURLRequest())
    return try await JSONResponseParsingInterceptor(limits: ResponseLimits(), passesBodies: true, passesResults: passing)
      .parse(response: response, for: request, includeCacheRecords: records)
  }

  private func text(_ body: ResponseBody) -> String { String(decoding: body.bytes, as: UTF8.self) }

  private static let events = "text/event-stream"
  private static func event(_ count: Int) -> String { "event: next\ndata: {\"data\":{\"count\":\(count)}}\n\n" }
  private static func part(_ count: Int) -> String { "{\"payload\":{\"data\":{\"count\":\(count)}}}" }

  @Test(
    "the first result has its successors, and the stream ends after them", .rule("gateway.35"),
    arguments: [
      (events, [event(1), event(2) + ":\n\n", event(3) + "event: complete\n\n"]),
      (ChunkTransport.subscription, [parts(part(1), "{}", part(2), closed: false), String(parts(part(3)).dropFirst(3))]),
      // White space around a payload does not belong to the result.
      (
        ChunkTransport.subscription,
        [
          parts(
            "{\"payload\": {\"data\":{\"count\":1}} }", "{\"payload\": {\"data\":{\"count\":2}}\n}",
            "{\"payload\":{\"data\":{\"count\":3}} }")
        ]
      ),
    ])
  func successors(_ contentType: String, _ chunks: [String]) async throws {
    let stream = try await results(chunks, contentType)
    guard case .element(let first) = try await stream.pull() else {
      Issue.record("no result")
      return
    }
    #expect(text(first.result.body) == #"{"data":{"count":1}}"#)
    let successors = try #require(first.result.passedResults)
    for count in 2...3 { #expect(await successors.nextPassed().map { text($0.body) } == "{\"data\":{\"count\":\(count)}}") }
    #expect(await successors.nextPassed() == nil)
    guard case .end = try await stream.pull() else {
      Issue.record("no end")
      return
    }
  }

  @Test(
    "an error ends the successors, and is thrown where the stream is read again", .rule("gateway.35"),
    arguments: [
      (events, [event(1), event(2)], ResponseParsingError.Code.truncated),
      (events, [event(1), event(2) + "event: next\ndata: {\n\n"], .invalidJSON),
      (ChunkTransport.subscription, [parts(part(1), part(2), closed: false)], .truncated),
      (ChunkTransport.subscription, [parts(part(1), part(2), "{\"payload\":{}}")], .notAGraphQLResponse),
      (ChunkTransport.subscription, [parts(part(1), part(2), "{\"payload\":{\"data\":{}}")], .invalidJSON),
    ])
  func failure(_ contentType: String, _ chunks: [String], _ code: ResponseParsingError.Code) async throws {
    let stream = try await results(chunks, contentType)
    guard case .element(let first) = try await stream.pull() else {
      Issue.record("no result")
      return
    }
    let successors = try #require(first.result.passedResults)
    #expect(await successors.nextPassed() != nil)
    #expect(await successors.nextPassed() == nil)
    let error = await #expect(throws: ResponseParsingError.self) { try await stream.pull() }
    #expect(error?.code == code)
  }

  @Test("an error of the protocol beside a last result is thrown after it", .rule("gateway.35"))
  func protocolError() async throws {
    let last = #"{"payload":{"data":{"count":2}},"errors":[{"message":"no"}]}"#
    let stream = try await results([parts(Self.part(1), last)], ChunkTransport.subscription)
    guard case .element(let first) = try await stream.pull() else {
      Issue.record("no result")
      return
    }
    let successors = try #require(first.result.passedResults)
    #expect(await successors.nextPassed().map { text($0.body) } == #"{"data":{"count":2}}"#)
    #expect(await successors.nextPassed() == nil)
    await #expect(throws: SubscriptionError.self) { try await stream.pull() }
  }

  @Test("results have no successors if a stage takes them, or if they are written to the cache", arguments: [true, false])
  func taken(_ records: Bool) async throws {
    let stream = try await results([Self.event(1)], Self.events, passing: records, records: records)
    guard case .element(let first) = try await stream.pull() else {
      Issue.record("no result")
      return
    }
    #expect(first.result.passedResults == nil)
  }
}
