import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

/// A response that is unusual but valid, and its parsed form.
struct UnusualResponse: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let text: String
  var method = "POST"
  var status = 200
  var body = ""
  var headers: [String: String] = [:]

  init(
    _ name: String, _ text: String, method: String = "POST", status: Int = 200, body: String = "",
    headers: [String: String] = [:]
  ) {
    testDescription = name
    self.text = text
    self.method = method
    self.status = status
    self.body = body
    self.headers = headers
  }
}

@Suite("How the transport reads unusual responses", .overBothEngines)
struct ResponseTests {
  private static let rightResponses: [UnusualResponse] = [
    UnusualResponse("an empty body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    UnusualResponse(
      "interim responses before the head",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nok",
      body: "ok", headers: ["X": "y", "Content-Length": "2"]),
    UnusualResponse(
      "chunks of odd sizes, extensions and trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0002;x=y\r\nbc\r\nA\r\ndefghijklm\r\n0\r\nX-Trailer: t\r\n\r\n",
      body: "abcdefghijklm", headers: ["Transfer-Encoding": "chunked"]),
    UnusualResponse("204 without length", "HTTP/1.1 204 No Content\r\n\r\n", status: 204),
    UnusualResponse(
      "304 with the length of what it does not send", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", status: 304,
      headers: ["Content-Length": "99"]),
    UnusualResponse(
      "HEAD with the length of what it does not send", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", method: "HEAD",
      headers: ["Content-Length": "99"]),
    UnusualResponse(
      "a header folded over lines", "HTTP/1.1 200 OK\r\nX: one\r\n  two: three\r\n\tfour\r\nContent-Length: 0\r\n\r\n",
      headers: ["X": "one two: three four", "Content-Length": "0"]),
    UnusualResponse(
      "a header twice, one empty, one with odd white space",
      "HTTP/1.1 200 OK\r\nX: 1\r\nx:\t 2 \r\nY:\r\nContent-Length: 0\r\n\r\n",
      headers: ["X": "1, 2", "Y": "", "Content-Length": "0"]),
    UnusualResponse(
      "a status without reason", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", body: "x", headers: ["Content-Length": "1"]),
    UnusualResponse(
      "lines that end in LF", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", body: "x", headers: ["Content-Length": "1"]),
    UnusualResponse(
      "a location with 200", "HTTP/1.1 200 OK\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
      headers: ["Location": "/x", "Content-Length": "0"]),
    UnusualResponse(
      "302 without location", "HTTP/1.1 302 Found\r\nContent-Length: 1\r\n\r\nx", status: 302, body: "x",
      headers: ["Content-Length": "1"]),
  ]

  @Test("a valid response is read, and its connection is kept", arguments: rightResponses)
  func kept(_ response: UnusualResponse) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in try peer.send(response.text) })
    let transport = try CurlTransport.tested()
    let answer = try await transport.fetch(
      "\(server.origin)/odd", method: response.method, body: response.method == "HEAD" ? nil : "{}")
    #expect(answer.head.statusCode == response.status)
    #expect(answer.text == response.body)
    #expect(answer.head.httpVersion == .http11)
    if !response.headers.isEmpty { #expect(answer.head.allHeaderFields == response.headers) }
    try await transport.expectIntact(server)
    #expect(server.connections == 1)
  }

  @Test("a body of HTTP/1.0 without length ends with its connection")
  func oldVersion() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.0 200 OK\r\n\r\nuntil the end")
      peer.close()
    })
    let transport = try CurlTransport.tested()
    let answer = try await transport.fetch("\(server.origin)/")
    #expect(answer.text == "until the end")
    #expect(answer.head.httpVersion == .http10)
    try await transport.expectIntact(server)
    #expect(server.connections == 2)
  }

  @Test("an empty line before the head is skipped or refused, wherever the response is cut", arguments: 1...12)
  func emptyLine(first: Int) async throws {
    let bytes = Array("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send(Array(bytes.prefix(first)))
      peer.pause(milliseconds: 20)
      try peer.send(Array(bytes.dropFirst(first)))
    })
    let transport = try CurlTransport.tested()
    do {
      #expect(try await transport.fetch("\(server.origin)/").text == "ok")
    } catch let error as TransportError {
      // libcurl 7.88 takes the line for the end of a head.
      #expect(error.code == .invalidResponse, "\(error)")
      #expect(TestedEngine.current == .libcurl, "\(error)")
    }
    try await transport.expectIntact(server)
  }

  // Only for bytes that arrive with the response. Decision record 5 describes those that arrive later.
  @Test("bytes that follow a response at once are never the answer to the next request", arguments: ["204 No Content", "200 OK"])
  func injected(status: String) async throws {
    let head = "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n"
    let injected = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    let server = try ScriptedServer(otherwise: { _, peer in try peer.send(head + injected) })
    let transport = try CurlTransport.tested()
    #expect(try await transport.fetch("\(server.origin)/bad").text.isEmpty)
    #expect(await eventually { server.bytesSent == head.utf8.count + injected.utf8.count })
    try await transport.expectIntact(server)
  }

  @Test("compressed bodies arrive decompressed, whatever pieces they come in")
  func compressed() async throws {
    let text = String(repeating: "all work and no play ", count: 5000)
    let packed = try await Gzip.compress(Data(text.utf8))
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      for byte in packed.prefix(40) { try peer.send([byte]) }
      try peer.send([UInt8](packed.dropFirst(40)))
    })
    let transport = try CurlTransport.tested()
    #expect(try await transport.fetch("\(server.origin)/").text == text)
    #expect(server.requests[0].header("Accept-Encoding")?.contains("gzip") == true)
    var configuration = CurlTransport.Configuration()
    configuration.acceptsCompression = false
    let plain = try CurlTransport.tested(configuration)
    #expect(try await plain.fetch("\(server.origin)/").body == packed)
    #expect(server.requests[1].header("Accept-Encoding") == nil)
  }

  @Test("a request may ask for the body as it was sent, and the next one over the same handle is decompressed again")
  func undecoded() async throws {
    let packed = try await Gzip.compress(Data("plain".utf8))
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      try peer.send([UInt8](packed))
    })
    let transport = try CurlTransport.tested()
    for (decodes, encoding) in [(true, nil), (false, nil), (false, "gzip;q=0.5"), (true, nil)] as [(Bool, String?)] {
      var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/")), httpMethod: "GET")
      request.decodesContent = decodes
      request.headers["Accept-Encoding"] = encoding
      let response = try await transport.send(request)
      #expect(response.response.headers["Content-Encoding"] == "gzip")
      #expect(try await response.chunks.collected() == (decodes ? Data("plain".utf8) : packed))
      let accepted = server.requests.last?.header("Accept-Encoding")
      #expect(decodes ? accepted?.contains("gzip") == true : accepted == encoding)
    }
    #expect(server.connections == 1)
    try await transport.expectIntact(server)
  }

  @Test("a redirect is followed without decompression as well")
  func undecodedAfterRedirect() async throws {
    let packed = try await Gzip.compress(Data("plain".utf8))
    let server = try ScriptedServer(otherwise: { request, peer in
      guard request.target == "/there" else { return try peer.respond("307 Elsewhere", headers: "Location: /there\r\n") }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      try peer.send([UInt8](packed))
    })
    let transport = try CurlTransport.tested()
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/")), httpMethod: "GET")
    request.decodesContent = false
    #expect(try await transport.send(request).chunks.collected() == packed)
    try await transport.expectIntact(server)
  }

  @Test("the limit for a body counts what a compressed one becomes, whether it is read fast or late", arguments: [0, 200])
  func bomb(delay: Int) async throws {
    let packed = try await Gzip.compress(Data(count: 50_000_000))
    #expect(packed.count < 100_000)
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      try peer.send([UInt8](packed))
      peer.waitForHangUp()
    })
    var configuration = CurlTransport.Configuration()
    configuration.maximumBodyBytes = 10_000_000
    let transport = try CurlTransport.tested(configuration)
    let url = try #require(URL(string: "\(server.origin)/bomb"))
    let response = try await transport.send(Carabiner.URLRequest(url: url))
    try await Task.sleep(for: .milliseconds(delay))
    var received = 0
    let error = try await #require(throws: TransportError.self) {
      for try await chunk in response.chunks { received += chunk.count }
    }
    #expect(error.code == .bodyTooLarge)
    #expect(error.message.contains("10000000 bytes after decompression"))
    #expect(received <= 10_000_000)
    #expect(await eventually { server.openConnections == 0 })
    try await transport.expectIntact(server)
  }
}

/// The system's gzip.
enum Gzip {
  struct Failure: Error {
    let status: Int32
  }

  static func compress(_ data: Data) async throws -> Data {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["-9c"]
    let input = Pipe.notInherited()
    let output = Pipe.notInherited()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let writer = input.fileHandleForWriting
    async let written: Void = Blocking.run {
      try writer.write(contentsOf: data)
      try writer.close()
    }
    let reader = output.fileHandleForReading
    let packed = try await Blocking.run { reader.readDataToEndOfFile() }
    try await written
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
    return packed
  }
}

/// Runs blocking work on a thread that may block.
enum Blocking {
  static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
  }
}
