import Carabiner
import CarabinerCurl
import Foundation
import Glibc
import ScriptedServer
import TestTools
import Testing

/// A kind of misbehaviour after a request was read, and the error that the caller gets.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let code: TransportError.Code
  let message: String
  /// Whether the error reports that bytes of a response were received.
  var began = true
  /// The engines that have this error.
  var engines = CurlTransport.Configuration.Engine.allCases
  var configure: @Sendable (inout CurlTransport.Configuration) -> Void = { _ in }
  let script: @Sendable (Peer) throws -> Void

  init(
    _ name: String, _ code: TransportError.Code, _ message: String, began: Bool = true,
    engines: [CurlTransport.Configuration.Engine] = CurlTransport.Configuration.Engine.allCases,
    configure: @escaping @Sendable (inout CurlTransport.Configuration) -> Void = { _ in },
    script: @escaping @Sendable (Peer) throws -> Void
  ) {
    testDescription = name
    self.code = code
    self.message = message
    self.began = began
    self.engines = engines
    self.configure = configure
    self.script = script
  }

  /// Sends these bytes and closes.
  init(_ name: String, _ code: TransportError.Code, _ message: String, began: Bool = true, sends text: String) {
    self.init(name, code, message, began: began) { peer in
      try peer.send(text)
      peer.close()
    }
  }
}

@Suite("Errors of the transport for bad responses", .overBothEngines)
struct BadResponseTests {
  private static let connections: [Misbehaviour] = [
    Misbehaviour("closes at once", .connectionLost, "ended in the middle", began: false) { $0.close() },
    Misbehaviour("resets at once", .connectionLost, "ended in the middle", began: false) { $0.reset() },
    Misbehaviour("closes in the head", .connectionLost, "ended in the middle", sends: "HTTP/1.1 200 OK\r\nContent-"),
    Misbehaviour("resets in the body", .connectionLost, "ended in the middle") { peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome")
      peer.pause(milliseconds: 20)
      peer.reset()
    },
    Misbehaviour(
      "declares more than it sends", .connectionLost, "before its length",
      sends: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
    Misbehaviour(
      "ends chunks without the last", .connectionLost, "before its length",
      sends: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
    Misbehaviour(
      "ends inside a chunk", .connectionLost, "before its length",
      sends: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello"),
  ]

  private static let heads: [Misbehaviour] = [
    Misbehaviour("speaks no HTTP", .invalidResponse, "as an HTTP server should", sends: "220 smtp.test ESMTP\r\n\r\n"),
    Misbehaviour(
      "has no number in the status line", .invalidResponse, "as an HTTP server should", sends: "HTTP/1.1 abc OK\r\n\r\n"),
    Misbehaviour(
      "has a status below 100", .invalidResponse, "response code", sends: "HTTP/1.1 099 Hm\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "switches protocols unasked", .invalidResponse, "another protocol",
      sends: "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nbinary"),
    Misbehaviour(
      "has no number of a version in an interim response", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/x.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    Misbehaviour("speaks HTTP/9.9", .invalidResponse, "as an HTTP server should", sends: "HTTP/9.9 200 OK\r\n\r\n"),
    Misbehaviour(
      "sends a header without colon", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "sends a header with a space in its name", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nX Y: z\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "sends a header that looks like a status line", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nHTTP/1.1 302 : x\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "sends NUL in a header", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "sends a bare CR in a header", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n"),
    Misbehaviour(
      "declares a negative length", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    Misbehaviour(
      "declares a length beyond all numbers", .invalidResponse, "a length that is not a number",
      sends: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
    Misbehaviour(
      "declares two lengths", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n12345"),
    Misbehaviour("sends headers without end", .headTooLarge, "longer than 262144 bytes") { peer in
      try peer.send("HTTP/1.1 200 OK\r\n")
      while true { try peer.send("X-Filler: \(String(repeating: "x", count: 1000))\r\n") }
    },
    Misbehaviour("sends one header line without end", .headTooLarge, "header") { peer in
      try peer.send("HTTP/1.1 200 OK\r\nX-Filler: ")
      while true { try peer.send(String(repeating: "x", count: 1000)) }
    },
    Misbehaviour("sends interim responses without end", .headTooLarge, "longer than 262144 bytes") { peer in
      while true { try peer.send("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n") }
    },
    Misbehaviour(
      "exceeds a raised limit of libcurl's own", .headTooLarge, "Too large", engines: [.libcurl],
      configure: { $0.maximumHeadBytes = 10_000_000 }, script: endlessHead),
    Misbehaviour(
      "exceeds a raised limit", .headTooLarge, "longer than 1000000 bytes", engines: [.auto],
      configure: { $0.maximumHeadBytes = 1_000_000 }, script: endlessHead),
    Misbehaviour("has more headers than a limit", .headTooLarge, "more than 5000 headers", engines: [.auto]) { peer in
      try peer.send("HTTP/1.1 200 OK\r\n")
      for _ in 0..<5001 { try peer.send("X: y\r\n") }
      try peer.send("\r\n")
    },
  ]

  @Sendable private static func endlessHead(_ peer: Peer) throws {
    try peer.send("HTTP/1.1 200 OK\r\n")
    while true { try peer.send("X-Filler: \(String(repeating: "x", count: 1000))\r\n") }
  }

  private static let bodies: [Misbehaviour] = [
    Misbehaviour(
      "has a chunk size that is not a number", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"),
    Misbehaviour(
      "sends bytes that are not gzip", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot gzip at"),
    Misbehaviour(
      "uses an unknown encoding", .invalidResponse, "as an HTTP server should",
      sends: "HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 5\r\n\r\nuryyb"),
    Misbehaviour("sends a gibibyte", .bodyTooLarge, "longer than 67108864 bytes") { peer in
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n")
      let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      for _ in 0..<1024 { try peer.send(block) }
    },
    Misbehaviour(
      "sends more than a small limit", .bodyTooLarge, "longer than 1000 bytes", configure: { $0.maximumBodyBytes = 1000 },
      script: { try $0.respond(body: String(repeating: "x", count: 1001)) }),
    Misbehaviour("sends trailers without end", .headTooLarge, "longer than 262144 bytes") { peer in
      try peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
      while true { try peer.send("X-Trailer: \(String(repeating: "x", count: 1000))\r\n") }
    },
  ]

  @Test("every misbehaviour has its error, and leaves nothing behind", arguments: connections + heads + bodies)
  func misbehaviour(_ misbehaviour: Misbehaviour) async throws {
    guard misbehaviour.engines.contains(TestedEngine.current) else { return }
    var configuration = CurlTransport.Configuration()
    misbehaviour.configure(&configuration)
    let transport = try CurlTransport.tested(configuration)
    let server = try ScriptedServer(otherwise: { _, peer in
      try misbehaviour.script(peer)
      peer.waitForHangUp()
    })
    let error = try await transport.failure("\(server.origin)/bad")
    #expect(error.code == misbehaviour.code, "\(error)")
    #expect(error.message.contains(misbehaviour.message), "\(error)")
    #expect(error.mayHaveBeenSent)
    #expect(error.responseBegan == misbehaviour.began, "\(error)")
    #expect(error.url == "\(server.origin)/bad")
    #expect(await eventually { server.openConnections == 0 }, "a connection in an unknown state must not be kept")
    try await transport.expectIntact(server)
    #expect(server.requests.map(\.target) == ["/bad", "/good"], "nothing is sent twice")
  }

  @Test(
    "a gibibyte that is read and forgotten takes no memory",
    .disabled(if: MemoryUse.isQuarantined, "the address sanitizer keeps what was freed"))
  func memory() async throws {
    // Other tests use memory at the same time, so this one runs in a separate process.
    await #expect(processExitsWith: .success) {
      let server = try ScriptedServer(otherwise: { _, peer in
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 30)\r\n\r\n")
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<1024 { try peer.send(block) }
      })
      let transport = try CurlTransport.tested()
      let url = try #require(URL(string: "\(server.origin)/huge"))
      let before = try MemoryUse.peakKibibytes()
      let response = try await transport.send(Carabiner.URLRequest(url: url))
      var received = 0
      let error = try await #require(throws: TransportError.self) {
        for try await chunk in response.chunks { received += chunk.count }
      }
      let growth = try MemoryUse.peakKibibytes() - before
      guard error.code == .bodyTooLarge, received > 60 << 20, received <= 64 << 20, growth < 32 << 10 else {
        print("\(error), \(received) bytes, \(growth) KiB more")
        exit(1)
      }
    }
  }
}

/// The kernel's figures of this process.
private enum MemoryUse {
  /// Whether this runs under the address sanitizer.
  static var isQuarantined: Bool { unsafe dlsym(nil, "__asan_init") != nil }

  static func peakKibibytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}
