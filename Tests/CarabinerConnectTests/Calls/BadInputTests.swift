import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Bad input to calls", .timeLimit(.minutes(2)))
struct BadInputTests {
  @Test(
    "a response that is not of the protocol is an error", .rule("connect.42", "connect.43"),
    arguments: [
      ("200 OK", "Content-Type: text/html\r\n", "<html>", Code.unknown), ("200 OK", "", "\"world\"", .unknown),
      ("302 Found", "", "", .unknown), ("418 Teapot", "Content-Type: application/json\r\n", "{\"code\": null}", .unknown),
      ("503 Busy", "Content-Type: application/json\r\n", "{\"message\": \"\\ud800\"}", .unavailable),
      ("500 Oops", "Content-Type: application/json\r\n", "{\"code\": \"aborted\", \"code\": \"data_loss\"}", .dataLoss),
      ("200 OK", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "no gzip", .internalError),
    ])
  func responses(status: String, headers: String, body: String, code: Code) async throws {
    let service = try Service { _, peer in try peer.respond(status, headers: headers, body: body) }
    let response = await service.call()
    #expect(response.code == code && response.error?.code == code, "\(response)")
  }

  @Test(
    "a response without a body, and a redirect to itself, are errors", .rule("connect.43"),
    arguments: ["204 No Content", "302 Found"])
  func noBody(status: String) async throws {
    let service = try Service { request, peer in
      try peer.send(
        "HTTP/1.1 \(status)\r\nLocation: \(request.target)\r\n\(status.hasPrefix("302") ? "Content-Length: 0\r\n" : "")\r\n")
    }
    let response = await service.call()
    #expect(response.code != .ok && response.error?.code == response.code, "\(response)")
    #expect(service.server.requests.count < 100)
  }

  @Test("a bomb of gzip is too large, in a message and in an error", .rule("connect.46"), arguments: ["200 OK", "500 Oops"])
  func bomb(status: String) async throws {
    var bytes = try GzipCompressionPool().compress(data: Data(count: 8 << 20))
    for _ in 0..<4 { bytes += bytes }
    let body = Array(bytes)
    let service = try Service { _, peer in
      try peer.send(
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n")
      try peer.send(body)
    }
    #expect(await service.call().code == .resourceExhausted)
  }

  @Test("an end with a mebibyte of trailers is read", .rule("connect.51"))
  func manyTrailers() async throws {
    let value = String(repeating: "x", count: 1 << 20)
    let service = try Service { _, peer in
      try peer.streamHead()
      try peer.send(envelope("{\"metadata\": {\"x-end\": [\"\(value)\"]}}", flags: 2))
      peer.close()
    }
    var trailers: Trailers?
    for await result in try service.stream().results() { if case .complete(.ok, _, let end) = result { trailers = end } }
    #expect(trailers?["x-end"] == [value])
  }

  @Test("a mebibyte of trailers in the head of a unary response is too large", .rule("connect.40"))
  func largeHead() async throws {
    let service = try Service { _, peer in
      try peer.text("world", headers: "Trailer-X-End: \(String(repeating: "x", count: 1 << 20))\r\n")
    }
    #expect(await service.call().code == .resourceExhausted)
  }

  @Test("a message of a mebibyte by GET is one request, or an error", .rule("connect.35"))
  func longGet() async throws {
    let service = try Service(unaryGET: .alwaysEnabled)
    let response = await service.call(String(repeating: "a", count: 1 << 20), level: .noSideEffects)
    #expect(response.error?.code ?? .ok == response.code)
    if response.code == .ok { #expect(service.server.requests.map(\.method) == ["GET"]) }
  }

  @Test("messages after the end of a stream are dropped", .rule("connect.28"))
  func sendAfterEnd() async throws {
    let service = try Service { _, peer in try peer.messages([]) }
    let stream: any BidirectionalAsyncStreamInterface<Text, Text> = service.client.bidirectionalStream(
      path: Service.path, headers: [:])
    stream.cancel()
    for await _ in stream.results() {}
    for number in 0..<10_000 { try stream.send(Text("\(number)")) }
    stream.close()
    #expect(service.server.requests.isEmpty)
  }

  @Test("a hundred thousand messages may be sent before the stream is opened", .rule("connect.9"))
  func manyMessages() async throws {
    let (count, held) = (100_000, Shared<(@Sendable () -> Void)?>(nil))
    let service = try Service([
      InterceptorFactory { _ in
        StreamStep(start: { request, proceed in held.value = { proceed(.success(request)) } })
      }
    ]) { request, peer in try peer.messages(["\(messages(in: request.body).count)"]) }
    let stream: any ClientOnlyAsyncStreamInterface<Text, Text> = service.client.clientOnlyStream(path: Service.path, headers: [:])
    for _ in 0..<count { try stream.send(Text("a")) }
    stream.closeAndReceive()
    #expect(await eventually { held.value != nil })
    held.exchange(nil)?()
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    #expect(words == ["headers", "\(count)", "complete ok"])
  }
}
