import Carabiner
import CarabinerWire
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("Answers in pieces")
struct SubscriptionAnswerTests {
  private static let multipart = "multipart/mixed;subscriptionSpec=1.0"
  private static let events = "text/event-stream"

  /// Results that the test releases.
  private struct Held {
    let runner: ScriptedRunner
    let results: AsyncStream<String>.Continuation

    init() {
      let (stream, results) = AsyncStream.makeStream(of: String.self)
      self.results = results
      runner = ScriptedRunner { _ in
        let iterator = SendableIterator(stream)
        return PullStream {
          guard let text = await iterator.next() else { return .end }
          return .element(try GraphQLResponse(json: JSONValue(parsing: Array(text.utf8))))
        }
      }
    }
  }

  @Test("the head is sent before the first result, followed by heartbeats", arguments: [multipart, events])
  func heartbeats(_ accept: String) async throws {
    let held = Held()
    var limits = GatewayLimits()
    limits.heartbeat = .seconds(3)
    let channel = try await OperationChannel(held.runner, limits: limits)
    try await channel.send("subscription { a }", accept: accept)
    #expect(try await channel.head().status == .ok)
    if accept == Self.multipart { #expect(try await channel.piece() == "--carabiner") }
    for _ in 0..<3 {
      await channel.channel.testingEventLoop.advanceTime(by: .seconds(3))
      let beat = try await channel.piece()
      #expect(accept == Self.events ? beat == ":\n\n" : beat?.contains("\r\n\r\n{}\r\n--carabiner") == true, "\(beat ?? "")")
    }
    held.results.yield(#"{"data":{"a":1}}"#)
    #expect(try await channel.piece()?.contains(#"{"data":{"a":1}}"#) == true)
    held.results.finish()
    #expect(try await channel.piece() == (accept == Self.events ? "event: complete\ndata:\n\n" : "--\r\n"))
    #expect(try await channel.piece() == nil)
    // Nothing follows the end of a response.
    await channel.channel.testingEventLoop.advanceTime(by: .seconds(30))
    #expect(try await channel.channel.readOutbound(as: IOData.self) == nil)
  }

  @Test("the default heartbeat interval is 12 s")
  func defaultInterval() { #expect(GatewayLimits().heartbeat == .seconds(12)) }

  @Test("when the gateway stops, a subscription gets a last piece with the reason, and ends", arguments: [multipart, events])
  func drain(_ accept: String) async throws {
    let held = Held()
    let channel = try await OperationChannel(held.runner)
    try await channel.send("subscription { a }", accept: accept)
    var answer = OperationChannel.Answer(head: try await channel.head())
    if accept == Self.multipart { _ = try await channel.piece() }
    held.results.yield(#"{"data":{"a":1}}"#)
    #expect(try await channel.piece()?.contains(#"{"data":{"a":1}}"#) == true)
    channel.connections.drain()
    answer.body = try await channel.piece() ?? ""
    #expect(answer.pieces.map { $0["errors"]?[0]?["extensions"]?["code"] } == ["SHUTTING_DOWN"], "\(answer.body)")
    #expect(answer.body.hasSuffix(accept == Self.events ? "event: complete\ndata:\n\n" : "--\r\n"), "\(answer.body)")
    #expect(try await channel.piece() == nil)
  }

  @Test("a subscription that begins while the gateway stops ends at once")
  func lateBegin() async throws {
    let channel = try await OperationChannel(Held().runner)
    channel.connections.drain()
    let answer = try await channel.answer("subscription { a }", accept: Self.events)
    #expect(answer.pieces.map { $0["errors"]?[0]?["extensions"]?["code"] } == ["SHUTTING_DOWN"], "\(answer.body)")
  }

  @Test("a query goes on while the gateway stops")
  func queryDuringDrain() async throws {
    let held = Held()
    let channel = try await OperationChannel(held.runner)
    try await channel.send("{ a }")
    channel.connections.drain()
    held.results.yield(#"{"data":{"a":1}}"#)
    held.results.finish()
    #expect(try await channel.whole().json == ["data": ["a": 1]])
  }

  @Test("a subscription without results is a success", arguments: [multipart, events])
  func empty(_ accept: String) async throws {
    let answer = try await OperationChannel(ScriptedRunner()).answer("subscription { a }", accept: accept)
    #expect(answer.status == 200)
    #expect(answer.body == (accept == Self.events ? "event: complete\ndata:\n\n" : "--carabiner--\r\n"))
  }

  @Test("over a WebSocket a subscription without results is complete")
  func emptyOverWebSocket() async throws {
    let socket = try await SocketChannel(ScriptedRunner())
    try await socket.send(#"{"type":"connection_init"}"#)
    #expect(try await socket.message() == ["type": "connection_ack"])
    try await socket.send(#"{"type":"subscribe","id":"1","payload":{"query":"subscription { a }"}}"#)
    #expect(try await socket.message() == ["type": "complete", "id": "1"])
  }

  @Test("a subscription that fails sends the error as its last piece", arguments: [multipart, events])
  func failure(_ accept: String) async throws {
    let runner = ScriptedRunner { _ in .failing(TransportError(.cannotConnect, "refused", url: "http://127.0.0.1:9/")) }
    let answer = try await OperationChannel(runner).answer("subscription { a }", accept: accept)
    #expect(answer.status == 200)
    #expect(answer.pieces.last?["errors"]?[0]?["extensions"]?["code"] == "UPSTREAM_UNREACHABLE", "\(answer.body)")
    #expect(answer.body.hasSuffix(accept == Self.events ? "event: complete\ndata:\n\n" : "--\r\n"))
  }

  @Test("clients that accept only events get the result of a query as an event")
  func query() async throws {
    let answer = try await OperationChannel(ScriptedRunner(#"{"data":{"a":1}}"#)).answer("{ a }", accept: Self.events)
    #expect(answer.status == 200)
    #expect(answer.contentType == "text/event-stream")
    #expect(answer.body == "event: next\ndata: {\"data\":{\"a\":1}}\n\nevent: complete\ndata:\n\n")
  }

  @Test("clients that accept only events get a refusal as an event")
  func refusal() async throws {
    let answer = try await OperationChannel(ScriptedRunner()).answer("{ a", accept: Self.events)
    #expect(answer.status == 200)
    #expect(answer.contentType == "text/event-stream")
    #expect(answer.pieces.map { $0["errors"]?[0]?["extensions"]?["code"] } == ["GRAPHQL_PARSE_FAILED"])
    #expect(answer.body.hasSuffix("event: complete\ndata:\n\n"))
  }

  @Test("clients that also accept JSON get the result of a query as JSON", arguments: ["application/json, text/event-stream"])
  func both(_ accept: String) async throws {
    let answer = try await OperationChannel(ScriptedRunner(#"{"data":{"a":1}}"#)).answer("{ a }", accept: accept)
    #expect(answer.contentType == "application/json; charset=utf-8")
  }
}

/// The iterator of a stream, for one consumer at a time.
private final class SendableIterator: @unchecked Sendable {
  // A stream of the chain is pulled by one consumer at a time.
  private var iterator: AsyncStream<String>.Iterator

  init(_ stream: AsyncStream<String>) { iterator = stream.makeAsyncIterator() }

  func next() async -> String? { await iterator.next(isolation: nil) }
}
