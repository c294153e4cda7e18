import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Streamed request bodies that the server does not wait for", .overBothEngines)
struct StreamedBodyEndTests {
  private func request(_ url: String, _ source: ChunkSource) throws -> Carabiner.URLRequest {
    var request = Carabiner.URLRequest(url: try #require(URL(string: url)), timeoutInterval: 60)
    request.body = .stream(source.chunks)
    return request
  }

  // MARK: Answers before the end of the body

  @Test(
    "an answer that comes before the end of the body is received whole, and ends the stream",
    arguments: ["200 OK", "401 Unauthorized", "503 Busy"], [true, false])
  func early(status: String, hasLength: Bool) async throws {
    let server = try ScriptedServer { peer in
      while let head = try peer.head() {
        if head.target == "/good" { return try peer.respond(body: "good") }
        guard peer.chunk() != nil else { return }
        if hasLength {
          try peer.respond(status, body: "answer")
        } else {
          try peer.send("HTTP/1.1 \(status)\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nanswer\r\n0\r\n\r\n")
        }
        while let chunk = peer.chunk(), !chunk.isEmpty {}
      }
    }
    let (transport, source) = (try CurlTransport.tested(), ChunkSource([Data("piece".utf8)]))
    let response = try await transport.send(request(server.origin, source))
    #expect(response.response.statusCode == Int(status.prefix(3)))
    #expect(try await response.chunks.collected() == Data("answer".utf8))
    try await transport.expectIntact(server)
    #expect(await eventually { !source.isAwaited })
  }

  @Test("a refusal over HTTP/2 ends the stream as well", arguments: [0, 1])
  func refusedOverHTTP2(chunks: Int) async throws {
    let server = try await WebServer()
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = server.authorityFile
    let transport = try CurlTransport.tested(configuration)
    let source = ChunkSource(Array(repeating: Data("piece".utf8), count: chunks))
    let response = try await transport.send(request("\(server.origin)/refused", source))
    #expect(response.response.httpVersion == .http2 && response.response.statusCode == 403)
    #expect(try await response.chunks.collected() == Data("refused".utf8))
    #expect(await eventually { try await transport.transferCount == 0 })
    #expect(await eventually { !source.isAwaited })
  }

  @Test("a connection that ends while the stream has no chunk is an error", arguments: [0, 1])
  func hungUp(chunks: Int) async throws {
    let server = try ScriptedServer { peer in
      guard let head = try peer.head() else { return }
      if head.target == "/good" { return try peer.respond(body: "good") }
      for _ in 0..<chunks { _ = peer.chunk() }
    }
    let transport = try CurlTransport.tested()
    let source = ChunkSource(Array(repeating: Data("piece".utf8), count: chunks))
    let error = try await #require(throws: TransportError.self) {
      _ = try await transport.send(request(server.origin, source))
    }
    #expect(error.code == .connectionLost && error.mayHaveBeenSent && !error.responseBegan, "\(error)")
    try await transport.expectIntact(server)
    #expect(await eventually { !source.isAwaited })
  }

  @Test(
    "an answer that breaks off while the stream has no chunk is an error", arguments: ["Content-Length: 100", "chunked"])
  func brokenOff(framing: String) async throws {
    let server = try ScriptedServer { peer in
      guard let head = try peer.head() else { return }
      if head.target == "/good" { return try peer.respond(body: "good") }
      let field = framing == "chunked" ? "Transfer-Encoding: chunked" : framing
      try peer.send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(framing == "chunked" ? "ff\r\n" : "")begin")
    }
    let (transport, source) = (try CurlTransport.tested(), ChunkSource())
    let response = try await transport.send(request(server.origin, source))
    var text = Data()
    let error = try await #require(throws: TransportError.self) {
      for try await chunk in response.chunks { text += chunk }
    }
    #expect(text == Data("begin".utf8))
    #expect(error.code == .connectionLost && error.responseBegan, "\(error)")
    try await transport.expectIntact(server)
  }

  // MARK: Once

  @Test("a stream whose kept connection dies is not sent again, and not accepted again")
  func notRepeated() async throws {
    let server = try ScriptedServer { peer in
      guard let first = try peer.request() else { return }
      try peer.respond(body: "good")
      guard first.target != "/good", try peer.head() != nil else { return }
      _ = peer.chunk()
    }
    let transport = try CurlTransport.tested()
    let whole = ChunkSource([Data("piece".utf8)])
    whole.finish()
    let first = try await transport.send(request("\(server.origin)/first", whole))
    #expect(try await first.chunks.collected() == Data("good".utf8))
    let source = ChunkSource([Data("piece".utf8)])
    let streamed = try request("\(server.origin)/upload", source)
    let error = try await #require(throws: TransportError.self) { _ = try await transport.send(streamed) }
    #expect(error.code == .connectionLost && error.mayHaveBeenSent)
    #expect(server.connections == 1)
    let again = try await #require(throws: TransportError.self) { _ = try await transport.send(streamed) }
    #expect(again.code == .bodyNotRepeatable && again.mayHaveBeenSent)
    #expect(again.message.contains("a new stream"))
    #expect(server.connections == 1)
    try await transport.expectIntact(server)
  }

  @Test("of two requests with one stream, one sends it and the other fails")
  func twice() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let (transport, source) = (try CurlTransport.tested(), ChunkSource([Data("piece".utf8)]))
    let streamed = try request(server.origin, source)
    let calls = (0..<2).map { _ in Task { try await transport.send(streamed).chunks.collected() } }
    #expect(await eventually { source.pulls == 2 })
    source.finish()
    var (answers, codes) = ([Data](), [TransportError.Code]())
    for call in calls {
      do { answers.append(try await call.value) } catch let error as TransportError { codes.append(error.code) }
    }
    #expect(answers == [Data("5".utf8)] && codes == [.bodyNotRepeatable])
    try await transport.expectIntact(server)
  }

  @Test("a redirect that keeps the body is refused, and one to GET is followed", arguments: [307, 308, 303])
  func redirected(status: Int) async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      guard request.target == "/upload" else { return try peer.respond(body: "\(request.method) \(request.body.count)") }
      try peer.respond("\(status) Elsewhere", headers: "Location: /there\r\n")
    })
    let (transport, source) = (try CurlTransport.tested(), ChunkSource([Data("piece".utf8)]))
    source.finish()
    let streamed = try request("\(server.origin)/upload", source)
    if status == 303 {
      #expect(try await transport.send(streamed).chunks.collected() == Data("GET 0".utf8))
    } else {
      let error = try await #require(throws: TransportError.self) { _ = try await transport.send(streamed) }
      #expect(error.code == .redirectRefused)
      #expect(error.message.contains("a stream, which is sent once"), "\(error)")
    }
    try await transport.expectIntact(server)
  }

  @Test("an HTTP chain that retries fails with the same stream, and succeeds with a new one", arguments: [true, false])
  func retried(isNew: Bool) async throws {
    struct Repeating: HTTPInterceptor {
      func intercept(request: Carabiner.URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
        let response = try await next(request)
        if response.response.statusCode == 401 { throw HTTPRetry() }
        return response
      }
    }
    let server = try ScriptedServer(otherwise: { request, peer in
      try peer.respond(request.body == Array("2".utf8) ? "200 OK" : "401 Unauthorized", body: "answer")
    })
    let (transport, count) = (try CurlTransport.tested(), Counter())
    let first = HTTPBody.stream(PullStream(Data("1".utf8)))
    let url = try #require(URL(string: server.origin))
    let chain = HTTPChain(interceptors: [Repeating()], transport: transport)
    let make: @Sendable () -> Carabiner.URLRequest = {
      var request = Carabiner.URLRequest(url: url)
      let number = count.increment()
      request.body = isNew ? .stream(PullStream(Data("\(number)".utf8))) : first
      return request
    }
    if isNew {
      #expect(try await chain.send(make).chunks.collected() == Data("answer".utf8))
    } else {
      let error = try await #require(throws: TransportError.self) { _ = try await chain.send(make) }
      #expect(error.code == .bodyNotRepeatable)
    }
    #expect(server.requests.count == (isNew ? 2 : 1))
    try await transport.expectIntact(server)
  }
}
