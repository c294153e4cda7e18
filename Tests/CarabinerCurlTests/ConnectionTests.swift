import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Connections", .overBothEngines)
struct ConnectionTests {
  @Test("fifty requests one after another share one connection, each with its own headers and body")
  func reuse() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      try peer.respond(
        body: "\(request.method) \(request.header("X-Number") ?? "-") \(String(decoding: request.body, as: UTF8.self))")
    })
    let transport = try CurlTransport.tested()
    for number in 0..<50 {
      let isPost = number % 3 != 0
      let answer = try await transport.fetch(
        server.origin, method: isPost ? "POST" : "GET", headers: number % 2 == 0 ? ["X-Number": "\(number)"] : [:],
        body: isPost ? String(repeating: "b", count: number) : nil)
      #expect(
        answer.text
          == "\(isPost ? "POST" : "GET") \(number % 2 == 0 ? "\(number)" : "-") \(isPost ? String(repeating: "b", count: number) : "")"
      )
    }
    #expect(server.connections == 1)
    try await transport.expectIntact(server)
  }

  @Test("two hundred concurrent requests all get their own response")
  func many() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      try peer.respond(body: String(decoding: request.body, as: UTF8.self))
    })
    let transport = try CurlTransport.tested()
    let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for number in 0..<200 {
        group.addTask(executorPreference: number % 2 == 0 ? transport.loop : nil) {
          (number, try await transport.fetch(server.origin, body: "body \(number)").text)
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(answers.count == 200)
    #expect(answers.allSatisfy { $0.value == "body \($0.key)" })
    #expect(server.requests.count == 200)
    try await transport.expectIntact(server)
  }

  @Test("a slow first response does not delay other connections")
  func slowFirst() async throws {
    let server = try ScriptedServer { peer in
      guard peer.number == 1 else { return try ScriptedServer.answering { _, peer in try peer.respond(body: "good") }(peer) }
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let transport = try CurlTransport.tested()
    let slow = Task { try await transport.fetch(server.origin) }
    #expect(await eventually { server.requests.count == 1 })
    #expect(try await transport.fetch("\(server.origin)/good", timeout: 20).text == "good")
    slow.cancel()
    await #expect(throws: CancellationError.self) { _ = try await slow.value }
  }

  @Test("the limit of connections to a host is kept")
  func limited() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in
      peer.pause(milliseconds: 2)
      try peer.respond()
    })
    var configuration = CurlTransport.Configuration()
    configuration.maximumConnectionsPerHost = 3
    let transport = try CurlTransport.tested(configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<30 { group.addTask { _ = try await transport.fetch(server.origin) } }
      try await group.waitForAll()
    }
    #expect(server.connections <= 3)
    #expect(server.requests.count == 30)
  }

  /// Answers the first request of each connection, and closes when the second one arrives.
  private func forgetful() throws -> ScriptedServer {
    try ScriptedServer { peer in
      guard try peer.request() != nil else { return }
      try peer.respond(body: "good")
      _ = try peer.request()
    }
  }

  private func request(_ server: ScriptedServer, isIdempotent: Bool, body: String = "{}") throws -> Carabiner.URLRequest {
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/graphql")), httpBody: Data(body.utf8))
    request.isIdempotent = isIdempotent
    return request
  }

  @Test("a query is sent again if its kept connection dies before the response", .rule("retry.1"))
  func queryAgain() async throws {
    let server = try forgetful()
    let transport = try CurlTransport.tested()
    let query = try request(server, isIdempotent: true)
    #expect(try await transport.send(query).chunks.collected() == Data("good".utf8))
    #expect(try await transport.send(query).chunks.collected() == Data("good".utf8))
    #expect(server.requests.count == 3)
    #expect(server.connections == 2)
  }

  @Test(
    "a mutation is not sent again if its kept connection dies before the response", .rule("retry.1"), arguments: [2, 100_000])
  func mutationOnce(length: Int) async throws {
    let server = try forgetful()
    let transport = try CurlTransport.tested()
    let mutation = try request(server, isIdempotent: false, body: String(repeating: "m", count: length))
    #expect(try await transport.send(mutation).chunks.collected() == Data("good".utf8))
    let error = try await #require(throws: TransportError.self) { _ = try await transport.send(mutation) }
    #expect(error.code == .connectionLost)
    #expect(error.message.contains("not sent again"), "\(error)")
    #expect(error.mayHaveBeenSent && !error.responseBegan)
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.body.count == length })
    // The handle that sent it can be used for the next request.
    #expect(try await transport.send(request(server, isIdempotent: true)).chunks.collected() == Data("good".utf8))
    #expect(server.requests.last?.body == Array("{}".utf8))
  }

  @Test("a request without a body that must not be repeated never uses a kept connection", .rule("retry.1"))
  func emptyOnce() async throws {
    let server = try forgetful()
    let transport = try CurlTransport.tested()
    for _ in 0..<3 {
      #expect(try await transport.send(request(server, isIdempotent: false, body: "")).chunks.collected() == Data("good".utf8))
    }
    #expect(server.requests.count == 3)
    #expect(server.connections == 3)
  }

  @Test("a kept connection that the server has closed meanwhile is not used, even for a mutation", .rule("retry.1"))
  func closedMeanwhile() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      try peer.respond(body: "good")
    }
    let transport = try CurlTransport.tested()
    for _ in 0..<3 {
      let response = try await transport.send(request(server, isIdempotent: false))
      #expect(try await response.chunks.collected() == Data("good".utf8))
      #expect(await eventually { server.openConnections == 0 })
    }
    #expect(server.requests.count == 3)
  }

  @Test("stale lengths of an interceptor are not sent, and a body without a type is not labelled as a form")
  func staleHeaders() async throws {
    let server = try ScriptedServer(otherwise: { _, peer in try peer.respond() })
    let transport = try CurlTransport.tested()
    _ = try await transport.fetch(
      server.origin, headers: ["content-length": "3", "Transfer-Encoding": "chunked", "X-Empty": ""], body: "longer")
    let request = try #require(server.requests.first)
    #expect(request.body == Array("longer".utf8))
    #expect(request.header("Transfer-Encoding") == nil)
    #expect(request.header("Content-Type") == nil)
    #expect(request.header("X-Empty") == "")
    #expect(request.header("Expect") == nil)
    try await transport.expectIntact(server)
  }
}
