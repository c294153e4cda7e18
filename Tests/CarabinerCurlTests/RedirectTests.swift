import Carabiner
import CarabinerCurl
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Redirects", .overBothEngines)
struct RedirectTests {
  /// A server that redirects to `location` with `status`, and returns the fields of all other requests.
  private func redirecting(_ status: Int, to location: String, body: String = "moved") throws -> ScriptedServer {
    try ScriptedServer(otherwise: { request, peer in
      if request.target == "/from" {
        try peer.respond("\(status) Moved", headers: "Location: \(location)\r\n", body: body)
      } else {
        try peer.respond(body: "\(request.method) \(request.target) \(String(decoding: request.body, as: UTF8.self))")
      }
    })
  }

  @Test(
    "307 and 308 keep method and body; 301, 302 and 303 become a GET without", .rule("request.6"),
    arguments: [301, 302, 303, 307, 308])
  func method(status: Int) async throws {
    let server = try redirecting(status, to: "/to?a=b")
    let transport = try CurlTransport.tested()
    let answer = try await transport.fetch(
      "\(server.origin)/from", headers: ["Content-Type": "application/json", "Authorization": "Bearer t"], body: "{\"q\":1}")
    let second = try #require(server.requests.last)
    #expect(answer.text == (status >= 307 ? "POST /to?a=b {\"q\":1}" : "GET /to?a=b "))
    #expect(second.header("Content-Type") == (status >= 307 ? "application/json" : nil))
    #expect(second.header("Authorization") == "Bearer t", "the same origin may see it")
    #expect(answer.head.url.absoluteString == "\(server.origin)/to?a=b")
    #expect(server.connections == 1, "the small body of a redirect is read to keep the connection")
    try await transport.expectIntact(server)
  }

  @Test("HEAD and GET keep their method", .rule("request.6"), arguments: ["GET", "HEAD"])
  func safeMethod(method: String) async throws {
    let server = try redirecting(302, to: "/to")
    let transport = try CurlTransport.tested()
    _ = try await transport.fetch("\(server.origin)/from", method: method, body: nil)
    #expect(server.requests.map(\.method) == [method, method])
  }

  private static let headers: HTTPHeaders = [
    "authorization": "Bearer t", "Cookie": "a=b", "COOKIE": "c=d", "Proxy-Authorization": "Basic x", "X-User": "7",
    "x-tenant-id": "8", "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "shop/1.0", "Host": "h",
  ]

  @Test("only headers that describe the body follow to another origin", .rule("request.6"), arguments: [307, 302])
  func otherOrigin(status: Int) async throws {
    let other = try redirecting(307, to: "/never")
    let server = try redirecting(status, to: "\(other.origin)/to")
    let transport = try CurlTransport.tested()
    let text = try await transport.fetch("\(server.origin)/from", headers: Self.headers, body: "body").text
    #expect(text == (status == 307 ? "POST /to body" : "GET /to "))
    let request = try #require(other.requests.first)
    for field in Self.headers where !["Accept", "Content-Type", "User-Agent", "Host"].contains(field.name) {
      #expect(request.header(field.name) == nil, "\(field.name)")
      #expect(server.requests.first?.header(field.name) != nil, "\(field.name)")
    }
    #expect(request.header("Accept") == "application/json")
    #expect(request.header("Content-Type") == (status == 307 ? "application/json" : nil))
    #expect(request.header("User-Agent") == "carabiner/1.0")
    #expect(request.header("Host") == "127.0.0.1:\(other.port)")
  }

  @Test("listed headers follow to another origin, and do not come back to the first", .rule("request.6"))
  func listedHeaders() async throws {
    let first = Mutex("")
    let other = try ScriptedServer(otherwise: { _, peer in
      try peer.respond("307 Moved", headers: "Location: \(first.withLock { $0 })/to\r\n")
    })
    let server = try redirecting(307, to: "\(other.origin)/to")
    first.withLock { $0 = server.origin }
    var configuration = CurlTransport.Configuration()
    configuration.redirectHeaders = ["x-user", "X-Tenant-*"]
    _ = try await CurlTransport.tested(configuration).fetch("\(server.origin)/from", headers: Self.headers, body: "body")
    for request in [try #require(other.requests.first), try #require(server.requests.last)] {
      #expect(request.header("X-User") == "7")
      #expect(request.header("X-Tenant-Id") == "8")
      #expect(request.header("Authorization") == nil)
      #expect(request.header("Cookie") == nil)
    }
    #expect(server.requests.count == 2)
  }

  @Test("a password in the first URL is not sent to another origin", .rule("request.6"))
  func userInformation() async throws {
    let other = try redirecting(307, to: "/never")
    let server = try redirecting(307, to: "\(other.origin)/to")
    let transport = try CurlTransport.tested()
    _ = try await transport.fetch("http://user:secret@127.0.0.1:\(server.port)/from")
    #expect(server.requests.first?.header("Authorization")?.hasPrefix("Basic ") == true)
    #expect(try #require(other.requests.first).header("Authorization") == nil)
  }

  @Test("a loop ends after five, and is called one", .rule("request.6"))
  func loop() async throws {
    let server = try redirecting(302, to: "/from")
    let transport = try CurlTransport.tested()
    let error = try await transport.failure("\(server.origin)/from", method: "GET")
    #expect(error.code == .redirectRefused)
    #expect(error.message.contains("more than 5 times"))
    #expect(error.message.contains("is it a loop?"))
    #expect(server.requests.count == 6)
    try await transport.expectIntact(server)
  }

  @Test(
    "places that are not http or https are refused, and nothing of them is read", .rule("request.6"),
    arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "javascript:alert(1)", "http://", "http:///x", ""])
  func refused(location: String) async throws {
    let server = try redirecting(302, to: location)
    let transport = try CurlTransport.tested()
    let error = try await transport.failure("\(server.origin)/from")
    #expect(error.code == .redirectRefused, "\(error)")
    #expect(error.message.contains("use the final address as the endpoint"))
    #expect(error.mayHaveBeenSent && error.responseBegan)
    try await transport.expectIntact(server)
  }

  @Test("a relative location is relative to where the request went", .rule("request.6"))
  func relative() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      if request.target == "/a/b?x" {
        try peer.respond("307 Moved", headers: "Location: ../c/d#part\r\n")
      } else {
        try peer.respond(body: request.target)
      }
    })
    let transport = try CurlTransport.tested()
    #expect(try await transport.fetch("\(server.origin)/a/b?x").text == "/c/d")
  }

  @Test("a redirect whose body has no end is followed without it", .rule("request.6"))
  func endlessBody() async throws {
    let server = try ScriptedServer(otherwise: { request, peer in
      guard request.target == "/from" else { return try peer.respond(body: "there") }
      try peer.send("HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: \(1 << 30)\r\n\r\n")
      while true { try peer.send([UInt8](repeating: 0x78, count: 65536)) }
    })
    let transport = try CurlTransport.tested()
    #expect(try await transport.fetch("\(server.origin)/from").text == "there")
    #expect(server.connections == 2)
    try await transport.expectIntact(server)
  }
}
