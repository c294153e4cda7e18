import Carabiner
import CarabinerCurl
import CarabinerWire
import Foundation
import TestTools
import Testing

@Suite("Requests that an HTTP/2 server did not process")
struct StreamRefusalTests {
  private static let requests = 8

  private func transport(to server: HTTP2Server) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    configuration.certificateAuthorityFile = server.authorityFile
    return try CurlTransport(configuration: configuration)
  }

  private func send(
    _ transport: CurlTransport, to server: HTTP2Server, isIdempotent: Bool, body: Data = Data("{}".utf8)
  ) async throws -> String {
    var request = Carabiner.URLRequest(url: try #require(URL(string: "\(server.origin)/graphql")), httpBody: body)
    request.isIdempotent = isIdempotent
    return String(decoding: try await transport.send(request).chunks.collected(), as: UTF8.self)
  }

  @Test(
    "a request is sent again if GOAWAY or REFUSED_STREAM says that it was not run, a mutation too", .rule("retry.1"),
    arguments: ["goaway", "refused"], [true, false])
  func again(event: String, isIdempotent: Bool) async throws {
    let server = try await HTTP2Server(event: event)
    let transport = try transport(to: server)
    // The server counts the requests that it runs, so each number shows that no request was run twice.
    for number in 1...Self.requests {
      #expect(try await send(transport, to: server, isIdempotent: isIdempotent) == "\(number)")
    }
    #expect(transport.metrics.requestsBegun == Self.requests)
  }

  @Test("concurrent mutations of one connection are each run once, whichever of them a GOAWAY refuses", .rule("retry.1"))
  func concurrent() async throws {
    let server = try await HTTP2Server(event: "goaway")
    let transport = try transport(to: server)
    let answers: [String?] = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { try? await send(transport, to: server, isIdempotent: false) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let numbers = answers.compactMap { $0.flatMap { Int($0) } }
    // One whose connection ended without proof is not sent again, which may be all of them.
    #expect(Set(numbers).count == numbers.count)
    let next = try #require(Int(try await send(transport, to: server, isIdempotent: true)))
    // The server has run each of them at most once, and those that were answered before this one.
    #expect(next <= answers.count + 1 && numbers.allSatisfy { $0 < next })
  }

  @Test(
    "a mutation that the server may have run is not sent again, whatever ends its stream", .rule("retry.1"),
    arguments: ["run-goaway", "run-reset", "run-lost", "run-broken"])
  func once(event: String) async throws {
    let server = try await HTTP2Server(event: event)
    let transport = try transport(to: server)
    for number in 1...2 { #expect(try await send(transport, to: server, isIdempotent: false) == "\(number)") }
    let error = try await #require(throws: TransportError.self) {
      _ = try await send(transport, to: server, isIdempotent: false)
    }
    #expect(error.mayHaveBeenSent && !error.responseBegan, "\(error)")
    #expect(try await send(transport, to: server, isIdempotent: false) == "4")
  }

  @Test(
    "a query is sent again if its kept connection ends without a response", .rule("retry.1"),
    arguments: ["run-goaway", "run-lost"])
  func query(event: String) async throws {
    let server = try await HTTP2Server(event: event)
    let transport = try transport(to: server)
    var answers: [String] = []
    for _ in 0..<4 { answers.append(try await send(transport, to: server, isIdempotent: true)) }
    #expect(answers == ["1", "2", "4", "5"])
  }

  @Test(
    "a response is whole if the server answers before it has read the request, and then ends the connection", .rule("retry.1"))
  func early() async throws {
    let server = try await HTTP2Server(event: "early")
    let transport = try transport(to: server)
    // More than a stream may carry at first, so no server sees its end before it answers.
    let body = Data(count: 200_000)
    for number in 1...6 {
      let body = number.isMultiple(of: 3) ? body : Data("{}".utf8)
      #expect(try await send(transport, to: server, isIdempotent: false, body: body) == "\(number)")
    }
  }

  @Test("a part of a response is never taken for a whole one")
  func cut() async throws {
    let server = try await HTTP2Server(event: "cut")
    let transport = try transport(to: server)
    for number in 1...2 { #expect(try await send(transport, to: server, isIdempotent: false) == "\(number)") }
    let text = try? await send(transport, to: server, isIdempotent: false, body: Data(count: 200_000))
    #expect(throws: (any Error).self) { try JSONValue(parsing: Array((text ?? "").utf8)) }
  }

  @Test("a server that refuses all requests is asked a limited number of times, and the error says that none was run")
  func allRefused() async throws {
    let server = try await HTTP2Server(event: "all-refused")
    let transport = try transport(to: server)
    let error = try await #require(throws: TransportError.self) {
      _ = try await send(transport, to: server, isIdempotent: false)
    }
    #expect(error.code == .connectionLost)
    #expect(!error.mayHaveBeenSent && !error.responseBegan)
    #expect(error.message.contains("refused the request before it ran it"), "\(error)")
    #expect(transport.metrics.connectionsOpened <= 6)
  }
}
