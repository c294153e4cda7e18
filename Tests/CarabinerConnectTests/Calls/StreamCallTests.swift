import CarabinerConnect
import FoundationEssentials
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Streams", .timeLimit(.minutes(2)))
struct StreamCallTests {
  @Test(
    "a server stream of a thousand messages arrives in any chunking of its bytes", .rule("connect.50"),
    arguments: [1, 3, 64, 1000, 1 << 20])
  func chunking(size: Int) async throws {
    let count = size == 1 ? 100 : 1000
    let service = try Service { request, peer in
      #expect(messages(in: request.body) == ["\"hello\""])
      #expect(request.header("content-length") != nil)
      try peer.streamHead()
      var bytes = (1...count).flatMap { envelope("\"\($0)\"") }[...] + endOfStream
      while !bytes.isEmpty {
        try peer.send(Array(bytes.prefix(size)))
        bytes = bytes.dropFirst(size)
      }
      peer.close()
    }
    #expect(try await service.streamed() == ["headers"] + (1...count).map(String.init) + ["complete ok"])
  }

  @Test(
    "a stream without its end is cut off, and what came was delivered", .rule("connect.53"),
    arguments: [[], Array(envelope("\"2\"").dropLast()), [0, 0]])
  func cutOff(rest: [UInt8]) async throws {
    let service = try Service { _, peer in
      try peer.streamHead()
      try peer.send(envelope("\"1\"") + rest)
      peer.close()
    }
    #expect(try await service.streamed() == ["headers", "1", "complete internalError"])
  }

  @Test(
    "a message that cannot be written, or a result that cannot be read, ends the stream", .rule("connect.13"),
    arguments: [true, false])
  func badCodec(writes: Bool) async throws {
    let service = try Service(
      codec: FailingCodec(writes: writes),
      script: { peer in
        guard try peer.request() != nil else { return }
        try peer.streamHead()
        try peer.send(envelope("1"))
        peer.waitForHangUp()
      })
    #expect(try await service.streamed() == (writes ? ["headers", "complete internalError"] : ["complete unknown"]))
    if writes { #expect(await eventually { service.server.hangUps == 1 }) } else { #expect(service.server.requests.isEmpty) }
  }

  @Test("nothing counts after the end, and the caller does not wait for the rest", .rule("connect.52"))
  func afterEnd() async throws {
    let service = try Service { _, peer in
      try peer.streamHead()
      try peer.send(endOfStream + envelope("\"late\"") + endOfStream)
      peer.waitForHangUp()
    }
    #expect(try await service.streamed() == ["headers", "complete ok"])
    #expect(await eventually { service.server.hangUps == 1 })
  }

  @Test("a refused connection gives the end only", .rule("connect.25"))
  func refusedConnection() async throws {
    let listener = try Listener(backlog: 1, isOpen: false)
    let client = ProtocolClient(config: ProtocolClientConfig(host: "http://127.0.0.1:\(listener.port)"))
    let stream: any ServerOnlyAsyncStreamInterface<Text, Text> = client.serverOnlyStream(path: Service.path, headers: [:])
    try stream.send(Text("hello"))
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    #expect(words == ["complete unavailable"])
  }

  /// A server that sends one message and waits for the client to go.
  private static let endless: ScriptedServer.Script = { peer in
    _ = try peer.request()
    try peer.streamHead()
    try peer.send(envelope("\"1\""))
    peer.waitForHangUp()
  }

  @Test("leaving the loop keeps a stream, and releasing it ends the transfer", .rule("connect.27"))
  func release() async throws {
    let service = try Service(script: Self.endless)
    var stream: (any ServerOnlyAsyncStreamInterface<Text, Text>)? = try service.stream()
    for await result in try #require(stream).results() where result.messageValue != nil { break }
    #expect(service.server.hangUps == 0)
    stream = nil
    #expect(await eventually { service.server.hangUps == 1 })
  }

  @Test("cancelling the task that reads the results ends the transfer", .rule("connect.27"))
  func cancelledReader() async throws {
    let service = try Service(script: Self.endless)
    let stream = try service.stream()
    let (results, seen) = (stream.results(), Shared(false))
    let reading = Task {
      for await result in results where result.messageValue != nil { seen.value = true }
    }
    #expect(await eventually { seen.value })
    reading.cancel()
    await reading.value
    #expect(await eventually { service.server.hangUps == 1 })
    stream.cancel()
  }

  @Test("a cancelled stream ends once, also while a hook holds a result", .rule("connect.23"), arguments: [true, false])
  func cancelling(isHeld: Bool) async throws {
    let held = Shared<(@Sendable () -> Void)?>(nil)
    let service = try Service(
      [
        InterceptorFactory { _ in
          StreamStep(result: { result, proceed in
            if isHeld, result.kind == "message" { held.value = { proceed(result) } } else { proceed(result) }
          })
        }
      ], script: Self.endless)
    let words = Journal()
    let stream: any ServerOnlyStreamInterface<Text> = service.client.serverOnlyStream(path: Service.path, headers: [:]) {
      (result: StreamResult<Text>) in words.add(result.word)
    }
    stream.send(Text("hello"))
    #expect(await eventually { isHeld ? held.value != nil : words.lines.count == 2 })
    stream.cancel()
    stream.cancel()
    #expect(await eventually { words.lines.last == "complete canceled" })
    held.exchange(nil)?()
    #expect(await eventually { service.server.hangUps == 1 })
    #expect(words.lines == (isHeld ? ["headers", "complete canceled"] : ["headers", "1", "complete canceled"]))
  }

  @Test(
    "the deadline ends a stream, at any moment", .rule("connect.24"),
    arguments: [0.00001, 0.0001, 0.001, 0.002, 0.003, 0.005, 0.3])
  func deadline(limit: Double) async throws {
    // The shorter ones end while the stream is being opened.
    for _ in 0..<(limit < 0.1 ? 20 : 1) {
      let service = try Service(timeout: limit, script: Self.endless)
      let words = try await service.streamed()
      #expect(words.last == "complete deadlineExceeded")
      #expect(await eventually { service.server.openConnections == 0 })
    }
  }

  @Test("reading pauses while results are not asked for, and a later reader gets the rest", .rule("connect.26"))
  func backPressure() async throws {
    // The buffers of the system take some megabytes.
    let (text, count) = (String(repeating: "x", count: 64 << 10), 300)
    // Read as JSON, so many bytes would take minutes under a sanitizer.
    let message = Array(try ProtoCodec().serialize(message: Text(text)))
    let service = try Service(codec: ProtoCodec()) { _, peer in
      peer.limitSendBuffer(to: 64 << 10)
      try peer.streamHead(codec: "proto")
      for _ in 1...count { try peer.send(envelope(message)) }
      try peer.send(endOfStream)
      peer.close()
    }
    let stream = try service.stream()
    for await result in stream.results() where result.messageValue != nil { break }
    // The server sends until all buffers are full.
    var sent = -1
    while sent != service.server.bytesSent {
      sent = service.server.bytesSent
      try await Task.sleep(for: .milliseconds(200))
    }
    #expect(sent < count * text.count / 2)
    var rest = 0
    for await result in stream.results() where result.messageValue != nil { rest += 1 }
    #expect(rest == count - 1)
  }

  @Test("a second message of a server stream, and one after close, fail with failedPrecondition", .rule("connect.28"))
  func sendAfterClose() async throws {
    let service = try Service(script: Self.endless)
    let stream = try service.stream()
    #expect { try stream.send(Text("again")) } throws: { ($0 as? ConnectError)?.code == .failedPrecondition }
    let other: any BidirectionalAsyncStreamInterface<Text, Text> = service.client.bidirectionalStream(
      path: Service.path, headers: [:])
    other.close()
    #expect { try other.send(Text("late")) } throws: { ($0 as? ConnectError)?.code == .failedPrecondition }
    let words = Journal()
    let callbacks: any ClientOnlyStreamInterface<Text> = service.client.clientOnlyStream(path: Service.path, headers: [:]) {
      (result: StreamResult<Text>) in words.add(result.word)
    }
    callbacks.closeAndReceive()
    callbacks.send(Text("late"))
    #expect(await eventually { words.lines.last == "complete failedPrecondition" })
  }

  @Test(
    "a client stream adds up, and an answer with no message or several is unimplemented", .rule("connect.29"),
    arguments: [
      (1, ["headers", "1+2+3", "complete ok"]), (0, ["headers", "complete unimplemented"]),
      (2, ["headers", "complete unimplemented"]),
    ])
  func clientStream(answers: Int, expected: [String]) async throws {
    let service = try Service { request, peer in
      let sum = messages(in: request.body).map { $0.replacing("\"", with: "") }.joined(separator: "+")
      try peer.messages(Array(repeating: sum, count: answers))
    }
    let stream: any ClientOnlyAsyncStreamInterface<Text, Text> = service.client.clientOnlyStream(path: Service.path, headers: [:])
    try stream.send(Text("1")).send(Text("2")).send(Text("3"))
    stream.closeAndReceive()
    var words: [String] = []
    for await result in stream.results() { words.append(result.word) }
    #expect(words == expected)
    #expect(service.server.requests.map { $0.header("transfer-encoding") } == ["chunked"])
  }

  @Test("results of a bidirectional stream arrive while its request is open", .rule("connect.3"))
  func fullDuplex() async throws {
    let service = try Service(script: { peer in
      guard try peer.head() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n")
      let send: ([UInt8]) throws -> Void = { bytes in
        try peer.send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
      }
      while let chunk = peer.chunk(), !chunk.isEmpty { try send(chunk) }
      try send(endOfStream)
      try peer.send("0\r\n\r\n")
    })
    let stream: any BidirectionalAsyncStreamInterface<Text, Text> = service.client.bidirectionalStream(
      path: Service.path, headers: [:])
    var results = stream.results().makeAsyncIterator()
    for number in 1...20 {
      try stream.send(Text("\(number)"))
      if number == 1 { #expect(await results.next()?.word == "headers") }
      #expect(await results.next()?.word == "\(number)")
    }
    stream.close()
    #expect(await results.next()?.word == "complete ok")
    #expect(await results.next() == nil)
  }

  @Test(
    "a message above the limit, one with unknown flags and a compressed one without encoding end the stream", .rule("connect.50"))
  func badMessages() async throws {
    for (bytes, code) in [
      ([0, 255, 255, 255, 255], "resourceExhausted"), ([0x80, 0, 0, 0, 1, 48], "internalError"),
      ([0xFC, 0, 0, 0, 0], "internalError"), (envelope("x", flags: 1), "internalError"), (envelope("nonsense"), "internalError"),
      (envelope("[]", flags: 2), "internalError"),
    ] as [([UInt8], String)] {
      let service = try Service { _, peer in
        try peer.streamHead()
        try peer.send(bytes)
        peer.waitForHangUp()
      }
      #expect(try await service.streamed() == ["headers", "complete \(code)"])
      #expect(await eventually { service.server.hangUps == 1 })
    }
  }

  @Test("gRPC-Web: message and trailers in the body, and trailers only", arguments: [true, false])
  func grpcWeb(hasBody: Bool) async throws {
    let trailers = envelope("grpc-status: 0\r\nx-end: z\r\n", flags: 0x80)
    let service = try Service(networkProtocol: .grpcWeb) { _, peer in
      let fields = "Content-Type: application/grpc-web+json\r\n"
      guard hasBody else { return try peer.respond(headers: "\(fields)grpc-status: 5\r\ngrpc-message: not%20here\r\n") }
      let body = envelope("\"world\"") + trailers
      try peer.send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.count)\r\n\r\n")
      try peer.send(body)
    }
    let response = await service.call()
    if hasBody {
      #expect(response.word == "world" && response.trailers["x-end"] == ["z"])
    } else {
      #expect(response.word == "notFound not here")
    }
  }
}
