import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Request bodies without known length", .overBothEngines)
struct StreamedBodyTests {
  private struct Fault: Error, Equatable {}

  private enum TaskValues {
    @TaskLocal static var word = "none"
  }

  private func transport(trusting server: WebServer) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = server.authorityFile
    return try CurlTransport.tested(configuration)
  }

  private func request(_ url: String, _ body: HTTPBody) throws -> Carabiner.URLRequest {
    var request = Carabiner.URLRequest(url: try #require(URL(string: url)), timeoutInterval: 60)
    request.body = body
    return request
  }

  private static func data(_ length: Int) -> Data { Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }) }

  // MARK: On the wire

  @Test(
    "chunks arrive in order and byte for byte, again and again over one connection",
    arguments: [[], [0], [1], [3, 0, 200_003, 1, 65_536, 0]])
  func order(lengths: [Int]) async throws {
    let server = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let transport = try CurlTransport.tested()
    let chunks = lengths.map(Self.data)
    let whole = chunks.reduce(Data(), +)
    for _ in 0..<3 {
      let response = try await transport.send(request(server.origin, .stream(PullStream(elements: chunks))))
      #expect(try await response.chunks.collected() == Data("\(whole.count)".utf8))
    }
    #expect(server.requests.map { Data($0.body) } == [whole, whole, whole])
    for request in server.requests {
      #expect(request.header("Transfer-Encoding") == "chunked" && request.header("Content-Length") == nil)
      #expect(request.header("Expect") == nil)
    }
    #expect(server.connections == 1)
    try await transport.expectIntact(server)
  }

  @Test("a chunk is sent as soon as it is there, while the response is read")
  func conversation() async throws {
    let server = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while let chunk = peer.chunk(), !chunk.isEmpty {
        try peer.send("\(String(chunk.count, radix: 16))\r\n\(String(decoding: chunk, as: UTF8.self))\r\n")
      }
      try peer.send("0\r\n\r\n")
    }
    let (transport, source) = (try CurlTransport.tested(), ChunkSource())
    let response = try await transport.send(request(server.origin, .stream(source.chunks)))
    var echoes = response.chunks.makeAsyncIterator()
    for number in 0..<50 {
      source.feed("message \(number)")
      #expect(try await echoes.next() == Data("message \(number)".utf8))
    }
    source.finish()
    #expect(try await echoes.next() == nil)
    #expect(await eventually { try await transport.transferCount == 0 })
  }

  @Test("over HTTP/2 the body goes in DATA frames as well, whole", arguments: [1, 70_000, 500_000])
  func http2(length: Int) async throws {
    let upstream = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let server = try await WebServer(upstream: upstream.port)
    let transport = try transport(trusting: server)
    let pieces = stride(from: 0, to: length, by: 9_999).map { Self.data(length)[$0..<min($0 + 9_999, length)] }
    let response = try await transport.send(request("\(server.origin)/upstream", .stream(PullStream(elements: pieces))))
    #expect(response.response.httpVersion == .http2)
    #expect(try await response.chunks.collected() == Data("\(length)".utf8))
    #expect(upstream.requests.map { Data($0.body) } == [Self.data(length)])
    #expect(await eventually { try await transport.transferCount == 0 })
  }

  @Test("streams that share a connection of HTTP/2 wait for their chunks independently of each other")
  func sharedConnection() async throws {
    let received = Mutex(0)
    let upstream = try ScriptedServer { peer in
      while try peer.head() != nil {
        while let chunk = peer.chunk(), !chunk.isEmpty { received.withLock { $0 += chunk.count } }
        try peer.respond(body: "end")
      }
    }
    let server = try await WebServer(upstream: upstream.port)
    let transport = try transport(trusting: server)
    // The first request opens the connection.
    _ = try await transport.fetch("\(server.origin)/", method: "GET", body: nil)
    let sources = (0..<3).map { _ in ChunkSource() }
    let calls = sources.map { source in
      Task {
        let response = try await transport.send(request("\(server.origin)/stream", .stream(source.chunks)))
        #expect(response.response.httpVersion == .http2)
        return try await response.chunks.collected()
      }
    }
    for round in 1...5 {
      for source in sources { source.feed("piece") }
      #expect(await eventually { received.withLock { $0 } == round * sources.count * 5 })
    }
    for source in sources { source.finish() }
    for call in calls { #expect(try await call.value == Data("end".utf8)) }
  }

  @Test("the stream runs with the task-locals of its caller")
  func taskLocals() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      try peer.respond(body: String(decoding: request.body, as: UTF8.self))
    })
    let transport = try CurlTransport.tested()
    let chunks = PullStream<Data> { .last(Data(TaskValues.word.utf8)) }
    let text = try await TaskValues.$word.withValue("bound") {
      try await transport.send(request(server.origin, .stream(chunks))).chunks.collected()
    }
    #expect(text == Data("bound".utf8))
  }

  // MARK: Back-pressure

  @Test("a server that does not read holds the stream up, and other requests go on meanwhile")
  func backPressure() async throws {
    let mayRead = Mutex(false)
    let server = try ScriptedServer { peer in
      if peer.number == 1 {
        while !mayRead.withLock({ $0 }) { peer.pause(milliseconds: 5) }
        guard let request = try peer.request() else { return }
        try peer.respond(body: "\(request.body.count)")
      }
      try ScriptedServer.answering { _, peer in try peer.respond(body: "good") }(peer)
    }
    let transport = try CurlTransport.tested()
    let (count, size) = (96, 1 << 20)
    let (pulled, chunk) = (Counter(), Data(count: size))
    let chunks = PullStream<Data> {
      pulled.increment() > count ? .end : .element(chunk)
    }
    let upload = Task { try await transport.send(request(server.origin, .stream(chunks))).chunks.collected() }
    // The first connection is that of the upload, which may be opened after its first chunk was asked for.
    #expect(await eventually { pulled.value > 0 && server.connections == 1 })
    for _ in 0..<5 { #expect(try await transport.fetch("\(server.origin)/good").text == "good") }
    // The kernel keeps a few megabytes at both ends.
    #expect(pulled.value < count / 2)
    mayRead.withLock { $0 = true }
    #expect(try await upload.value == Data("\(count * size)".utf8))
    try await transport.expectIntact(server)
  }

  // MARK: Failures

  @Test(
    "an error of the stream is the error of the request, and the server never gets a whole body", arguments: [0, 1, 3])
  func failing(count: Int) async throws {
    let ends = Mutex<[Bool]>([])
    let server = try ScriptedServer { peer in
      guard let head = try peer.head() else { return }
      if head.target == "/good" { return try peer.respond(body: "good") }
      var chunk = peer.chunk()
      while let more = chunk, !more.isEmpty { chunk = peer.chunk() }
      ends.withLock { $0.append(chunk != nil) }
    }
    let transport = try CurlTransport.tested()
    let source = ChunkSource(Array(repeating: Data("piece".utf8), count: count))
    source.finish(throwing: Fault())
    await #expect(throws: Fault()) { try await transport.send(request(server.origin, .stream(source.chunks))) }
    #expect(await eventually { ends.withLock { $0 } == [false] })
    #expect(await eventually { try await transport.transferCount == 0 })
  }

  @Test("a cancelled request ends its connection and the task that waits for a chunk")
  func cancelled() async throws {
    let server = try ScriptedServer { peer in
      guard try peer.head() != nil, peer.chunk() != nil else { return }
      peer.waitForHangUp()
    }
    let (transport, source) = (try CurlTransport.tested(), ChunkSource([Data("piece".utf8)]))
    let upload = Task { try await transport.send(request(server.origin, .stream(source.chunks))) }
    #expect(await eventually { source.pulls == 2 })
    upload.cancel()
    await #expect(throws: CancellationError.self) { _ = try await upload.value }
    #expect(await eventually { server.hangUps == 1 && !source.isAwaited })
    #expect(try await transport.transferCount == 0)
  }

  @Test("releasing the response ends the stream")
  func released() async throws {
    let server = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      peer.waitForHangUp()
    }
    let (transport, source) = (try CurlTransport.tested(), ChunkSource())
    do {
      let response = try await transport.send(request(server.origin, .stream(source.chunks)))
      #expect(response.response.statusCode == 200)
      #expect(await eventually { source.pulls == 1 })
    }
    #expect(await eventually { server.hangUps == 1 && !source.isAwaited })
    #expect(try await transport.transferCount == 0)
  }

  @Test("a stopped transport ends its streams")
  func stopped() async throws {
    let server = try ScriptedServer { peer in peer.waitForHangUp() }
    let source = ChunkSource()
    let transport = try CurlTransport.tested()
    let upload = Task { try await transport.send(request(server.origin, .stream(source.chunks))) }
    #expect(await eventually { source.pulls == 1 })
    transport.loop.stop()
    await #expect(throws: TransportError.self) { _ = try await upload.value }
    #expect(await eventually { !source.isAwaited })
  }

  @Test("nothing is pulled for a request that cannot be sent")
  func unsendable() async throws {
    let source = ChunkSource()
    let transport = try CurlTransport.tested()
    let closed = try Listener(backlog: 1, isOpen: false)
    var request = try request("http://127.0.0.1:\(closed.port)/", .stream(source.chunks))
    await #expect(throws: TransportError.self) { try await transport.send(request) }
    request.headers.add(name: "bad name", value: "x")
    await #expect(throws: TransportError.self) { try await transport.send(request) }
    #expect(source.pulls == 0)
    #expect(try await transport.transferCount == 0)
    withExtendedLifetime(closed) {}
  }
}
