import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("TLS, HTTP/2 and a real server", .overBothEngines)
struct TLSTests {
  private func transport(
    trusting file: String? = nil, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
  ) throws -> CurlTransport {
    var configuration = CurlTransport.Configuration()
    // Enough time for sixteen megabytes on a busy machine.
    configuration.totalTimeout = 300
    configuration.certificateAuthorityFile = file
    change(&configuration)
    return try CurlTransport.tested(configuration)
  }

  @Test("an unknown authority is refused with what to do, and accepted once it is named")
  func authority() async throws {
    let server = try await WebServer()
    let error = try await transport().failure("\(server.origin)/")
    #expect(error.code == .tls)
    #expect(error.message.contains("is not trusted"))
    #expect(error.message.contains("set ca-file to its certificate authority"))
    #expect(!error.mayHaveBeenSent && !error.responseBegan)
    let trusting = try transport(trusting: server.authorityFile)
    for host in ["127.0.0.1", "localhost"] {
      #expect(try await trusting.fetch("https://\(host):\(server.port)/", method: "GET", body: nil).head.statusCode == 200)
    }
  }

  @Test(
    "a trusted but invalid certificate is refused with a hint",
    arguments: [(CertificateFiles.Kind.otherHost, "for another host"), (.expired, "not valid at this time")])
  func wrong(certificate: CertificateFiles.Kind, message: String) async throws {
    let server = try await WebServer(certificate)
    let transport = try transport(trusting: server.authorityFile)
    let error = try await transport.failure("\(server.origin)/")
    #expect(error.code == .tls)
    #expect(error.message.contains(message), "\(error)")
    #expect(!error.message.contains("ca-file"), "the authority is not what is wrong")
    #expect(try await transport.transferCount == 0)
  }

  @Test("a file of authorities that cannot be read is named as the reason")
  func badFile() async throws {
    let server = try await WebServer()
    let error = try await transport(trusting: "/no/such/file.pem").failure("\(server.origin)/")
    #expect(error.code == .tls)
    #expect(error.message.contains("check that ca-file"), "\(error)")
  }

  @Test("a server without TLS is refused")
  func noTLS() async throws {
    let server = try ScriptedServer { peer in
      _ = peer.receive()
      try peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    }
    let error = try await transport().failure("https://127.0.0.1:\(server.port)/")
    #expect(error.code == .tls)
    #expect(error.message.contains("no TLS connection"), "\(error)")
  }

  @Test("fifty concurrent requests over HTTP/2 share one connection", arguments: ["GET", "POST"])
  func streams(method: String) async throws {
    let upstream = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: request.method) })
    let server = try await WebServer(upstream: upstream.port)
    let transport = try transport(trusting: server.authorityFile)
    let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await transport.fetch("\(server.origin)/upstream", method: method, body: method == "GET" ? nil : "{}")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.head.httpVersion == .http2 && $0.text == method })
    #expect(upstream.requests.count == 50)
    #expect(Set(answers.map { $0.head.headers["X-Connection"] ?? "none" }).count == 1)
    #expect(answers[0].head.headers["X-Connection"] != nil)
    #expect(try await transport.transferCount == 0)
  }

  @Test("HTTP/2 can be turned off")
  func oldVersion() async throws {
    let server = try await WebServer()
    let transport = try transport(trusting: server.authorityFile) { $0.allowsHTTP2 = false }
    #expect(try await transport.fetch("\(server.origin)/").head.httpVersion == .http11)
  }

  @Test("a body goes over HTTP/2 whole, one that may be sent once as well", arguments: [1, 70_000, 500_000], [true, false])
  func body(length: Int, isIdempotent: Bool) async throws {
    // libcurl 7.88 stalls or fails when a server answers over HTTP/2 without reading the body: this one reads it.
    let upstream = try ScriptedServer(otherwise: { request, peer in try peer.respond(body: "\(request.body.count)") })
    let server = try await WebServer(upstream: upstream.port)
    let transport = try transport(trusting: server.authorityFile)
    var request = Carabiner.URLRequest(
      url: try #require(URL(string: "\(server.origin)/upstream")),
      httpBody: Data((0..<length).map { UInt8(truncatingIfNeeded: $0) }))
    request.isIdempotent = isIdempotent
    let response = try await transport.send(request)
    #expect(response.response.httpVersion == .http2)
    #expect(try await response.chunks.collected() == Data("\(length)".utf8))
    #expect(upstream.requests.map(\.body) == [[UInt8](request.httpBody ?? Data())])
  }

  @Test("a stream that is not read does not stop the others of its connection")
  func paused() async throws {
    let server = try await WebServer()
    let transport = try transport(trusting: server.authorityFile)
    let url = try #require(URL(string: "\(server.origin)/large"))
    let slow = try await transport.send(Carabiner.URLRequest(url: url, httpMethod: "GET"))
    #expect(slow.response.httpVersion == .http2)
    try await Task.sleep(for: .milliseconds(100))
    for _ in 0..<3 {
      #expect(try await transport.fetch("\(server.origin)/", method: "GET", body: nil).head.statusCode == 200)
    }
    #expect(try await transport.transferCount == 1)
    #expect(try await slow.chunks.collected().count == WebServer.largeFileBytes)
    #expect(try await transport.transferCount == 0)
  }

  @Test("cancelling one stream leaves the others alone")
  func cancelled() async throws {
    let server = try await WebServer()
    let transport = try transport(trusting: server.authorityFile)
    let first = try await transport.fetch("\(server.origin)/", method: "GET", body: nil).text
    let large = try #require(URL(string: "\(server.origin)/large"))
    _ = try await transport.send(Carabiner.URLRequest(url: large, httpMethod: "GET"))
    #expect(await eventually { try await transport.transferCount == 0 })
    #expect(try await transport.fetch("\(server.origin)/", method: "GET", body: nil).text == first, "the same connection")
  }

  @Test("a redirect from https to http is refused")
  func downgrade() async throws {
    let server = try await WebServer()
    let error = try await transport(trusting: server.authorityFile).failure("\(server.origin)/down", method: "GET")
    #expect(error.code == .redirectRefused)
    #expect(error.message.contains("from https to"))
  }
}
