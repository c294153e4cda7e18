import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner serve: proxies in front of the gateway")
struct TrustedProxyTests {
  private let folder: StoreFolder
  private let upstream: ScriptedServer

  init() throws {
    folder = try StoreFolder()
    upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond("200 OK", headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
  }

  private func gateway(_ serve: String, _ arguments: [String] = []) throws -> ServeProcess {
    _ = try folder.write("carabiner: 1\nserve: \(serve)\n", to: "chain.yaml")
    return try ServeProcess(folder, endpoint: "\(upstream.origin)/", arguments)
  }

  /// The clients in the access log, in order.
  private func clients(_ gateway: ServeProcess, _ log: String) -> [String] {
    let lines = ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
    return lines.compactMap { (try? JSONValue(parsing: Array($0.utf8)))?["client"]?.string }
  }

  private func waitFor(_ count: Int, _ gateway: ServeProcess, _ log: String) async throws -> [String] {
    _ = await eventually { clients(gateway, log).count >= count }
    return clients(gateway, log)
  }

  private var logged: [String] { ["--access-log", "--log-format", "json", "--access-log-file", log] }
  private var log: String { folder.file("access.log") }

  @Test(
    "behind a trusted proxy the client is the rightmost address that is not one, for the log and the rate", .rule("gateway.17"))
  func trusted() async throws {
    let gateway = try gateway(
      "{trusted-proxies: [127.0.0.0/8, 10.0.0.0/8], limits: {rate: 2/h}}", logged)
    func ask(_ field: String) throws -> Int { try gateway.query("{ a }", headers: ["X-Forwarded-For: \(field)"]).status }
    #expect(try ask("203.0.113.1, 192.0.2.1, 10.0.0.1") == 200)
    #expect(try ask("203.0.113.2, 192.0.2.1") == 200)
    #expect(try ask("203.0.113.3, 192.0.2.1") == 429)
    #expect(try ask("192.0.2.2") == 200)
    #expect(try await waitFor(4, gateway, log) == ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"])
  }

  @Test("a spoofed field of an untrusted peer changes nothing", .rule("gateway.17"))
  func untrusted() async throws {
    let gateway = try gateway("{trusted-proxies: [10.0.0.0/8], forwarded-fields: true, limits: {rate: 2/h}}", logged)
    func ask(_ field: String) throws -> Int {
      try gateway.query("{ a }", headers: ["X-Forwarded-For: \(field)", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil"])
        .status
    }
    #expect(try ask("192.0.2.1") == 200)
    #expect(try ask("192.0.2.2") == 200)
    #expect(try ask("192.0.2.3") == 429)
    #expect(try await waitFor(3, gateway, log) == ["127.0.0.1", "127.0.0.1", "127.0.0.1"])
    for request in upstream.requests {
      #expect(request.header("X-Forwarded-For") == "127.0.0.1" && request.header("X-Forwarded-Proto") == "http")
      #expect(request.header("X-Forwarded-Host") == "127.0.0.1:\(gateway.port)")
      #expect(!request.headers.contains { $0.value.contains("evil") || $0.value.contains("192.0.2") })
    }
  }

  @Test(
    "the upstream gets no such fields without forwarded-fields, and continued ones behind a trusted proxy", .rule("gateway.17"))
  func fields() async throws {
    let gateway = try gateway("{trusted-proxies: [127.0.0.1]}")
    let headers = ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: shop.test"]
    #expect(try gateway.query("{ a }", headers: headers).status == 200)
    #expect(try !#require(upstream.requests.last).headers.contains { $0.name.hasPrefix("X-Forwarded") })
    _ = try folder.write("carabiner: 1\nserve: {trusted-proxies: [127.0.0.1], forwarded-fields: true}\n", to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.query("{ a }", headers: headers).status == 200)
    let request = try #require(upstream.requests.last)
    #expect(request.header("X-Forwarded-For") == "192.0.2.1, 127.0.0.1")
    #expect(request.header("X-Forwarded-Proto") == "https" && request.header("X-Forwarded-Host") == "shop.test")
  }

  private static let ask =
    "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 17\r\n"
    + "Connection: close\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n" + #"{"query":"{ a }"}"#

  /// Sends bytes on a new connection, and returns the status of the answer; nil if the connection was closed without one.
  private func status(_ port: Int, _ header: [UInt8]) throws -> Int? {
    let client = try ClientSocket(port: port)
    client.send(header + Array(Self.ask.utf8))
    let text = client.read(patience: 60_000).text
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  private static let binary: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12, 192, 0, 2, 8, 10, 0, 0, 1, 0, 1, 0,
    2,
  ]

  @Test("the address of a PROXY header is the client, in both versions; a connection without one is closed", .rule("gateway.17"))
  func proxyProtocol() async throws {
    _ = try folder.write(
      """
      carabiner: 1
      endpoint: "\(upstream.origin)/"
      serve: {trusted-proxies: [127.0.0.1], listeners: [{address: "127.0.0.1:0", proxy-protocol: require}]}
      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil, logged, listensByFlag: false)
    #expect(try status(gateway.port, Array("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n".utf8)) == 200)
    #expect(try status(gateway.port, Self.binary) == 200)
    #expect(try status(gateway.port, Array("PROXY UNKNOWN\r\n".utf8)) == 200)
    #expect(try status(gateway.port, []) == nil)
    #expect(try status(gateway.port, Array("PROXY TCP4 192.0.2.7\r\n".utf8)) == nil)
    #expect(try await waitFor(3, gateway, log) == ["192.0.2.7", "192.0.2.8", "127.0.0.1"])
    // From a peer that is not trusted any more, the header is refused.
    _ = try folder.write(
      """
      carabiner: 1
      endpoint: "\(upstream.origin)/"
      serve: {trusted-proxies: [10.0.0.0/8], listeners: [{address: "127.0.0.1:0", proxy-protocol: require}]}
      """, to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try status(gateway.port, Array("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n".utf8)) == nil)
  }
}
