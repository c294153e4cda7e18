import Carabiner
import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("HTTP stages of calls", .timeLimit(.minutes(2)))
struct StageTests {
  @Test(
    "a call is sent again on a dead connection if its level allows that", .rule("connect.39"),
    arguments: [(IdempotencyLevel.unknown, Code.unavailable, 2), (.idempotent, .ok, 3), (.noSideEffects, .ok, 3)])
  func deadConnection(level: IdempotencyLevel, code: Code, requests: Int) async throws {
    // Answers the first request of each connection, and closes when the second one arrives.
    let service = try Service(script: { peer in
      guard try peer.request() != nil else { return }
      try peer.text("world")
      _ = try peer.request()
    })
    #expect(await service.call(level: level).word == "world")
    #expect(await service.call(level: level).code == code)
    #expect(service.server.requests.count == requests)
  }

  @Test("a stage sees a GET with its query, and the response with its fields", .rule("connect.58"))
  func unary() async throws {
    let (server, journal) = (try ScriptedServer(ScriptedServer.answering { _, peer in try peer.text("world") }), Journal())
    let stages = Stages([
      HTTPStep { request, next in
        let response = try await next(request)
        journal.add("\(request.httpMethod) \(request.url.query ?? "")")
        journal.add("\(request.headers["accept-encoding"] ?? "nil") \(request.headers["content-type"] ?? "nil")")
        return response.mapChunks { head, chunk in
          journal.add("\(head.statusCode) \(String(decoding: chunk, as: UTF8.self))")
          return chunk
        }
      }
    ])
    let response: ResponseMessage<Text> = try await stages.client(server.origin, unaryGET: .alwaysEnabled).unary(
      path: Service.path, idempotencyLevel: .noSideEffects, request: Text("a"), headers: [:])
    #expect(response.word == "world")
    #expect(journal.lines == ["GET connect=v1&base64=1&encoding=json&message=ImEi", "gzip nil", "200 \"world\""])
  }

  @Test("a stage sees the envelopes of a stream in both directions", .rule("connect.58"))
  func stream() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.messages(["1", "2"]) })
    let (sent, received) = (Shared(Data()), Shared(Data()))
    let stages = Stages([
      HTTPStep { request, next in
        sent.value = request.httpBody ?? Data()
        return try await next(request).mapChunks { _, chunk in
          received.change { $0.append(chunk) }
          return chunk
        }
      }
    ])
    #expect(try await words(stages, server) == ["headers", "1", "2", "complete ok"])
    #expect(sent.value == Data(envelope("\"hello\"")))
    #expect(received.value == Data(envelope("\"1\"") + envelope("\"2\"") + endOfStream))
  }

  @Test(
    "a response of a stage is read as one of a server", .rule("connect.59"),
    arguments: [(200, "\"made\"", "made"), (404, "{\"code\":\"aborted\",\"message\":\"no\"}", "aborted no")])
  func responding(status: Int, body: String, word: String) async throws {
    let stages = Stages([
      HTTPStep { request, _ in
        Carabiner.HTTPResponse(
          response: HTTPURLResponse(url: request.url, statusCode: status, headers: ["content-type": "application/json"]),
          chunks: PullStream(Data(body.utf8)))
      }
    ])
    #expect(try await stages.client("http://127.0.0.1:1").call().word == word)
  }

  @Test("a retry sends the same bytes again", .rule("connect.59"))
  func retry() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.text("world") })
    #expect(try await Stages([RetryOnce()]).client(server.origin).call().word == "world")
    #expect(server.requests.count == 2 && server.requests[0].body == server.requests[1].body)
  }

  @Test("a retry of a body that was not delivered sends the request again, and one of a stream ends it", .rule("connect.59"))
  func retryInBody() async throws {
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        if request.header("content-type") == "application/json" { try peer.text("world") } else { try peer.messages(["1"]) }
      })
    let isRetried = Shared(false)
    let stages = Stages([
      HTTPStep { request, next in
        try await next(request).mapChunks { _, chunk in
          guard isRetried.exchange(true) else { throw HTTPRetry() }
          return chunk
        }
      }
    ])
    #expect(try await stages.client(server.origin).call().word == "world")
    #expect(server.requests.count == 2)
    isRetried.value = false
    #expect(try await words(stages, server) == ["headers", "complete aborted"])
    #expect(server.requests.count == 3)
  }

  @Test("a frame that a stage cuts is a stream that was cut off", .rule("connect.59"))
  func cut() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.messages(["1"]) })
    let stages = Stages([
      HTTPStep { request, next in
        let response = try await next(request)
        let bytes = Data(envelope("\"1\"") + endOfStream.dropLast())
        return Carabiner.HTTPResponse(response: response.response, chunks: PullStream(bytes))
      }
    ])
    #expect(try await words(stages, server) == ["headers", "1", "complete internalError"])
  }

  /// The results of a server stream in words.
  private func words(_ stages: Stages, _ server: ScriptedServer) async throws -> [String] {
    let stream: any ServerOnlyAsyncStreamInterface<Text, Text> = try stages.client(server.origin).serverOnlyStream(
      path: Service.path, headers: [:])
    try stream.send(Text("hello"))
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    return words
  }
}
