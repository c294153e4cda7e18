import Carabiner
import CarabinerHTTP1
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerCurl

@Suite("The engine for HTTP/1.1")
struct HTTP1EngineTests {
  /// A server that answers "good" to every request on the same connection.
  private func server() throws -> ScriptedServer {
    try ScriptedServer(otherwise: { request, peer in try peer.respond(body: request.method == "HEAD" ? "" : "good") })
  }

  private func upload(_ url: String) throws -> Carabiner.URLRequest {
    var request = Carabiner.URLRequest(url: try #require(URL(string: url)))
    request.body = .stream(PullStream(elements: [Data("piece".utf8)]))
    return request
  }

  @Test(
    "the time in which the body is not read does not count for the timeout once the reader has stopped the clock",
    .rule("gateway.34"), arguments: [true, false])
  func clock(isStopped: Bool) throws {
    var configuration = CurlTransport.Configuration()
    configuration.bufferedBodyBytes = 10
    let address = try #require(HTTP1Address("http://h"))
    let request = Carabiner.URLRequest(url: try #require(URL(string: "http://h")))
    let exchange = HTTP1Exchange(
      request, head: MessageWriter(), decodes: false, origin: HTTP1Origin(address, offersHTTP2: false), timeout: 1000,
      limits: Exchange.Limits(configuration))
    let deadline = exchange.deadline
    if isStopped { exchange.beginPassing() }
    let bytes = [UInt8](repeating: 0, count: 8)
    #expect(try unsafe bytes.withUnsafeBytes { unsafe try exchange.bodyArrived($0) })
    #expect(!exchange.hasStoppedClock)
    #expect(try unsafe !bytes.withUnsafeBytes { unsafe try exchange.bodyArrived($0) })
    #expect(exchange.hasStoppedClock == isStopped)
    usleep(2_000)
    exchange.runClock()
    #expect(!exchange.hasStoppedClock)
    #expect(isStopped ? exchange.deadline >= deadline + 2_000_000 : exchange.deadline == deadline)
  }

  // MARK: What it sends

  @Test(
    "a URL is taken apart for the request line, the Host header and the connection",
    arguments: [
      ("http://h", "http://h", "h", "/"), ("http://h/", "http://h", "h", "/"), ("http://h?q=1", "http://h", "h", "/?q=1"),
      ("http://h:80/a/b?c#d", "http://h:80", "h", "/a/b?c"), ("https://h:443/", "https://h:443", "h", "/"),
      ("https://h:80/", "https://h:80", "h:80", "/"), ("http://[::1]:4000/x", "http://[::1]:4000", "[::1]:4000", "/x"),
      ("http://h/.well-known/a..b/...", "http://h", "h", "/.well-known/a..b/..."),
      ("http://h/a?b=/../c", "http://h", "h", "/a?b=/../c"),
    ])
  func addresses(url: String, origin: String, authority: String, target: String) throws {
    let address = try #require(HTTP1Address(url))
    #expect(address.origin == origin)
    #expect(address.authority == authority)
    #expect(address.target == target)
    #expect(address.isTLS == url.hasPrefix("https"))
  }

  @Test(
    "a URL that must be changed before it is sent is left to libcurl",
    arguments: [
      "http://u@h/", "http://u:p@h/", "http:///x", "http://h:/", "http://h:0/", "http://h:65536/", "http://h:8x/",
      "http://h:+80/",
      "http://h/a/../b", "http://h/a/.", "http://h/..?x", "http://h/./", "http://h/a b", "http://h/\u{e9}", "http://h/\"",
      "http://h/a\\b",
      "http://h%41/", "http://[fe80::1%25eth0]/", "http://[::1/", "HTTP://h/", "ftp://h/", "h", "",
    ])
  func otherAddresses(url: String) { #expect(HTTP1Address(url) == nil) }

  @Test("both engines send the same request", arguments: ["POST", "GET", "HEAD", "PUT", "DELETE", "QUERY"])
  func sameRequest(method: String) async throws {
    let server = try server()
    var heads: [[String]] = []
    for engine in CurlTransport.Configuration.Engine.allCases {
      var configuration = CurlTransport.Configuration()
      configuration.engine = engine
      let transport = try CurlTransport(configuration: configuration)
      for headers in [
        [:], ["Host": "other.test", "User-Agent": "me", "Accept": "a/b", "X-Empty": ""], ["x-a": "1", "X-A": "2"],
      ]
        as [HTTPHeaders]
      {
        for body in method == "HEAD" ? [nil] : ["", "{}", nil] {
          _ = try await transport.fetch("\(server.origin)/a?b", method: method, headers: headers, body: body)
          let request = try #require(server.requests.last)
          // libcurl may know more codings.
          heads.append(
            ["\(request.method) \(request.target) \(request.body)"]
              + request.headers.filter { $0.name != "Accept-Encoding" }.map { "\($0.name): \($0.value)" }.sorted())
          #expect(request.header("Accept-Encoding")?.hasPrefix("deflate, gzip") == true)
        }
      }
    }
    #expect(heads.count == (method == "HEAD" ? 6 : 18))
    #expect(heads.prefix(heads.count / 2) == heads.suffix(heads.count / 2))
  }

  @Test("a stream and an expectation are sent by libcurl, over its own connection")
  func otherRequests() async throws {
    let server = try server()
    let transport = try CurlTransport()
    #expect(try await transport.fetch("\(server.origin)/one").text == "good")
    #expect(try await transport.send(try upload("\(server.origin)/two")).chunks.collected() == Data("good".utf8))
    #expect(server.connections == 2)
    #expect(try await transport.fetch("\(server.origin)/three").text == "good")
    #expect(try await transport.send(try upload("\(server.origin)/four")).chunks.collected() == Data("good".utf8))
    #expect(try await transport.fetch("\(server.origin)/five", headers: ["Expect": "100-continue"]).text == "good")
    #expect(server.connections == 2)
    #expect(server.requests.map(\.target) == ["/one", "/two", "/three", "/four", "/five"])
  }

  // MARK: libcurl

  @Test("libcurl neither uses nor closes the connections of the engine")
  func undisturbed() async throws {
    let server = try server()
    let held = try HeldServer()
    var configuration = CurlTransport.Configuration()
    configuration.totalTimeout = 300
    let transport = try CurlTransport(configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await transport.fetch("\(held.origin)/", timeout: 300) } }
      #expect(await eventually { held.waiting == 8 })
      for _ in 0..<300 {
        let answer = try await transport.send(try upload("\(server.origin)/")).chunks.collected()
        #expect(answer == Data("good".utf8))
      }
      held.answer()
      try await group.waitForAll()
    }
    #expect(held.connections == 8)
    #expect(server.connections == 1)
    #expect(transport.metrics.openConnections == 9)
  }

  // MARK: Connections

  /// A transport with at most one connection to a host.
  private static func singleConnection() throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.maximumConnectionsPerHost = 1
    return try CurlTransport(configuration: configuration)
  }

  @Test("a waiting request takes the first connection that becomes free, and the others are served in order")
  func order() async throws {
    let (server, transport) = (try server(), try Self.singleConnection())
    let loop = transport.loop
    try await Task(executorPreference: loop) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          group.addTask(executorPreference: loop) { _ = try await transport.fetch("\(server.origin)/\(number)") }
        }
        try await group.waitForAll()
      }
    }.value
    #expect(server.connections == 1)
    #expect(server.requests.map(\.target) == (0..<20).map { "/\($0)" })
  }

  @Test("a waiting request that is cancelled leaves no connection behind and lets the next one pass")
  func cancelledWhileWaiting() async throws {
    let (held, transport) = (try HeldServer(), try Self.singleConnection())
    let first = Task { try await transport.fetch("\(held.origin)/first", timeout: 300).text }
    #expect(await eventually { held.waiting == 1 })
    let waiting = (0..<200).map { number in Task { try await transport.fetch("\(held.origin)/\(number)", timeout: 300).text } }
    #expect(await eventually { try await transport.transferCount == 201 })
    for task in waiting.dropLast() { task.cancel() }
    for task in waiting.dropLast() { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(await eventually { try await transport.transferCount == 2 })
    held.answer()
    #expect(try await first.value == "held")
    #expect(try await waiting[199].value == "held")
    #expect(held.connections == 1)
  }

  @Test("a request that waits for a connection ends with its timeout")
  func timeoutWhileWaiting() async throws {
    let (held, transport) = (try HeldServer(), try Self.singleConnection())
    let first = Task { try await transport.fetch("\(held.origin)/first", timeout: 300).text }
    #expect(await eventually { held.waiting == 1 })
    let error = try await transport.failure("\(held.origin)/second", timeout: 0.1)
    #expect(error.code == .timedOut)
    #expect(error.message.contains("there was no connection after 0.1 s"), "\(error)")
    #expect(!error.mayHaveBeenSent)
    held.answer()
    #expect(try await first.value == "held")
  }

  @Test("connections that fail end as many requests as wait for them, and no request is left")
  func failures() async throws {
    let transport = try CurlTransport()
    let codes = try await withThrowingTaskGroup(of: TransportError.Code.self) { group in
      for _ in 0..<20 { group.addTask { try await transport.failure("http://127.0.0.1:1/").code } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == [TransportError.Code](repeating: .cannotConnect, count: 20))
    #expect(try await transport.transferCount == 0)
    #expect(await eventually { transport.metrics.openConnections == 0 })
  }

  @Test("an idle connection whose server sends bytes is closed, and the bytes are not the next answer")
  func unasked() async throws {
    let server = try ScriptedServer { peer in
      while try peer.request() != nil {
        try peer.respond(body: "good")
        if peer.number == 1 {
          peer.pause(milliseconds: 20)
          try peer.respond(body: "evil")
        }
      }
    }
    let transport = try CurlTransport()
    #expect(try await transport.fetch("\(server.origin)/").text == "good")
    #expect(await eventually { server.openConnections == 0 })
    #expect(try await transport.fetch("\(server.origin)/").text == "good")
    #expect(server.connections == 2)
  }

  @Test("a task that was cancelled between two chunks ends the exchange, although its response is still held")
  func cancelledBetweenChunks() async throws {
    let server = try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
      peer.waitForHangUp()
    }
    let transport = try CurlTransport()
    let url = try #require(URL(string: server.origin))
    let response = try await transport.send(Carabiner.URLRequest(url: url, httpMethod: "GET"))
    let reading = Task {
      for try await _ in response.chunks { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(await eventually { try await transport.transferCount == 0 })
    #expect(response.response.statusCode == 200)
  }

  @Test("the rest of a body is not sent behind the whole response", arguments: [200, 413])
  func earlyAnswer(status: Int) async throws {
    let isOver = Mutex(false)
    defer { isOver.withLock { $0 = true } }
    let server = try ScriptedServer { peer in
      guard try peer.head() != nil else { return }
      try peer.send("HTTP/1.1 \(status) Early\r\nContent-Length: 5\r\n\r\nearly")
      // If it read on, the whole body could be sent before the response is read.
      while !isOver.withLock({ $0 }) { peer.pause(milliseconds: 5) }
    }
    let transport = try CurlTransport()
    let answer = try await transport.fetch("\(server.origin)/", body: String(repeating: "b", count: 20_000_000))
    #expect(answer.text == "early")
    #expect(answer.head.statusCode == status)
    #expect(await eventually { transport.metrics.openConnections == 0 })
  }

  // MARK: Compression

  @Test("gzip and deflate are decompressed, with and without the header of zlib", arguments: Packed.all)
  func codings(_ packed: Packed) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(packed.coding)\r\nContent-Length: \(packed.bytes.count)\r\n\r\n")
      for byte in packed.bytes { try peer.send([byte]) }
    })
    let transport = try CurlTransport()
    #expect(try await transport.fetch("\(server.origin)/").text == "hello hello hello")
    try await transport.expectIntact(server)
    #expect(server.connections == 1)
  }

  @Test("a compressed body that is cut off is an error", arguments: [1, 12, 20])
  func cutOff(count: Int) async throws {
    let bytes = Array(Packed.gzip.prefix(count))
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
      try peer.send(bytes)
    })
    let transport = try CurlTransport()
    let error = try await transport.failure("\(server.origin)/bad")
    #expect(error.code == .invalidResponse)
    #expect(error.message.contains("cut off"), "\(error)")
    try await transport.expectIntact(server)
  }

  @Test(
    "several codings of one body are refused, because each could multiply its size", arguments: ["gzip, gzip", "gzip, br", "br"])
  func otherCodings(coding: String) async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 1\r\n\r\nx")
    })
    let transport = try CurlTransport()
    let error = try await transport.failure("\(server.origin)/bad")
    #expect(error.code == .invalidResponse)
    #expect(error.message.contains("coding"), "\(error)")
    try await transport.expectIntact(server)
  }

  @Test("the decompressed size of a small body is limited, even if the body is read part by part")
  func bombInParts() async throws {
    let packed = try await Gzip.compress(Data(count: 50_000_000))
    let server = try ScriptedServer(otherwise: { _, peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Encoding: gzip\r\n\r\n")
      try peer.send([UInt8](packed))
      peer.waitForHangUp()
    })
    var configuration = CurlTransport.Configuration()
    configuration.maximumBodyBytes = 10_000_000
    let transport = try CurlTransport(configuration: configuration)
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/bomb")))
    request.takesParts = true
    let response = try await transport.send(request)
    #expect(await eventually { server.openConnections == 0 }, "nothing has read the body yet")
    let error = try await #require(throws: TransportError.self) {
      for try await chunk in response.chunks { #expect(chunk.count <= 10_000_000) }
    }
    #expect(error.code == .bodyTooLarge)
    try await transport.expectIntact(server)
  }

  // MARK: The end of the loop

  @Test("a request that begins while the loop ends fails, and nothing is left open")
  func stopped() async throws {
    let held = try HeldServer()
    let transport = try CurlTransport()
    let loop = transport.loop
    let task = Task(executorPreference: loop) {
      let first = await #expect(throws: TransportError.self) { try await transport.fetch("\(held.origin)/first", timeout: 300) }
      let second = await #expect(throws: TransportError.self) { try await transport.fetch("\(held.origin)/second", timeout: 300) }
      return [first?.message, second?.message]
    }
    #expect(await eventually { held.waiting == 1 })
    loop.stop()
    for message in await task.value { #expect(message?.contains("shut down") == true) }
    #expect(await eventually { transport.metrics.openConnections == 0 && transport.metrics.runningRequests == 0 })
  }

  // MARK: TLS

  @Test("over TLS, the version of the first response decides, and connections are kept")
  func overTLS() async throws {
    let server = try await WebServer(offersHTTP2: false)
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = server.authorityFile
    let transport = try CurlTransport(configuration: configuration)
    var connections: [String] = []
    for _ in 0..<4 {
      let answer = try await transport.fetch("\(server.origin)/", method: "GET", body: nil)
      #expect(answer.head.httpVersion == .http11)
      connections.append(try #require(answer.text.split(separator: " ").first.map(String.init)))
    }
    #expect(connections[0] != connections[1], "the first request is libcurl's")
    #expect(Set(connections[1...]).count == 1)
    let large = try await transport.fetch("\(server.origin)/large", method: "GET", body: nil)
    #expect(large.body == Data(count: WebServer.largeFileBytes))
    #expect(transport.metrics.openConnections == 2)
  }

  @Test("over TLS, a large request body and a slow reader are served", arguments: [1, 20_000, 5_000_000])
  func largeOverTLS(length: Int) async throws {
    let upstream = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let server = try await WebServer(upstream: upstream.port, offersHTTP2: false)
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = server.authorityFile
    configuration.allowsHTTP2 = false
    configuration.totalTimeout = 300
    let transport = try CurlTransport(configuration: configuration)
    let body = String(repeating: "b", count: length)
    #expect(try await transport.fetch("\(server.origin)/upstream", body: body, timeout: 300).text == "\(length)")
    let url = try #require(URL(string: "\(server.origin)/large"))
    let slow = try await transport.send(Carabiner.URLRequest(url: url, httpMethod: "GET"))
    try await Task.sleep(for: .milliseconds(50))
    #expect(try await slow.chunks.collected().count == WebServer.largeFileBytes)
    #expect(transport.metrics.openConnections == 1)
    let refused = try await transport.fetch("\(server.origin)/refused", body: body, timeout: 300)
    #expect(refused.head.statusCode == 403, "the server does not read the body")
  }
}

/// A server that answers "held" to all requests at once, on demand.
private final class HeldServer: Sendable {
  private let server: ScriptedServer
  private let gate: Gate

  init() throws {
    let gate = Gate()
    self.gate = gate
    server = try ScriptedServer { peer in
      while try peer.request() != nil {
        gate.wait()
        try peer.respond(body: "held")
      }
    }
  }

  deinit { gate.open() }

  var origin: String { server.origin }
  var connections: Int { server.connections }
  /// The number of requests that wait for their answer.
  var waiting: Int { gate.waiting }

  func answer() { gate.open() }

  private final class Gate: @unchecked Sendable {
    // The condition protects the other properties.
    private let condition = NSCondition()
    private var isOpen = false
    private var count = 0

    var waiting: Int { condition.withLock { count } }

    func wait() {
      condition.withLock {
        count += 1
        while !isOpen { condition.wait() }
        count -= 1
      }
    }

    func open() {
      condition.withLock { isOpen = true }
      condition.broadcast()
    }
  }
}

/// "hello hello hello" in several codings.
struct Packed: Sendable, CustomTestStringConvertible {
  let coding: String
  let bytes: [UInt8]

  var testDescription: String { coding }

  private static let raw: [UInt8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0x00]
  private static let zlib: [UInt8] = [0x78, 0xDA] + raw + [0x3A, 0x2E, 0x06, 0x7D]
  static let gzip: [UInt8] =
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + raw + [0x80, 0x88, 0xF9, 0xE5, 17, 0, 0, 0]

  static let all: [Packed] = [
    Packed(coding: "deflate", bytes: raw), Packed(coding: "Deflate", bytes: zlib), Packed(coding: "gzip", bytes: gzip),
    Packed(coding: "x-gzip", bytes: gzip), Packed(coding: "identity , gzip", bytes: gzip),
  ]
}
