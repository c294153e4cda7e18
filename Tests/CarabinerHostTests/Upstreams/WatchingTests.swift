import Carabiner
import CarabinerCurl
import CarabinerGateway
import CarabinerManifest
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

@testable import CarabinerHost
@testable import CarabinerUpstreams

@Suite("Active checks, and names that are looked up again")
struct WatchingTests {
  /// A text that a test changes while servers read it.
  private final class Changing: Sendable {
    private let value: Mutex<String>

    init(_ value: String) { self.value = Mutex(value) }

    var current: String {
      get { value.withLock(\.self) }
      set { value.withLock { $0 = newValue } }
    }
  }

  private func wait(until condition: () async throws -> Bool) async throws { try #require(await eventually(condition)) }

  private func isHealthy(_ service: UpstreamService) -> Bool { service.status["endpoints"]?[0]?["healthy"] == true }

  @Test("an endpoint that answers errors to the query check is down after 3 checks and up after 2 good ones", .rule("gateway.9"))
  func query() async throws {
    let body = Changing(#"{"errors":[{"message":"no"}]}"#)
    let checked = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: body.current)
      })
    let good = try Upstreams.answering()
    let service = try await UpstreamService(
      """
      headers: {X-Client: fleet}
      upstreams:
        main:
          endpoints: ["\(checked.graphQL)", "\(good.graphQL)"]
          health: {query: "{ ping }", interval: 10ms}
      """)
    try await wait { !isHealthy(service) }
    #expect(checked.requests.count >= 3)
    let first = try #require(checked.requests.first)
    #expect(first.method == "POST" && first.target == "/graphql")
    #expect(first.header("X-Client") == "fleet")
    #expect(String(decoding: first.body, as: UTF8.self) == #"{"query":"{ ping }"}"#)
    // Only the other endpoint is used.
    for _ in 0..<20 { try #expect(await service.run() == Upstreams.body) }
    body.current = Upstreams.body
    try await wait { isHealthy(service) }
  }

  @Test("a check by path is a GET, and its statuses can be chosen", .rule("gateway.9"))
  func path() async throws {
    let status = Changing("404 Not Found")
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in try peer.respond(status.current, body: "no") })
    let service = try await UpstreamService(
      """
      upstreams:
        main: {endpoints: ["\(server.graphQL)"], health: {path: "/up?deep=1", interval: 10ms, fall: 2, rise: 1, status: [200-299, 404]}}
      """)
    try await wait { server.requests.count > 3 }
    #expect(isHealthy(service))
    #expect(server.requests.allSatisfy { $0.method == "GET" && $0.target == "/up?deep=1" })
    status.current = "500 Error"
    try await wait { !isHealthy(service) }
    status.current = "204 No Content"
    try await wait { isHealthy(service) }
  }

  @Test(
    "new requests reach the new address of a name, no request fails, and a failed lookup keeps the last address",
    .rule("gateway.2"))
  func names() async throws {
    let (first, second) = try ScriptedServer.pair { host, port in
      try ScriptedServer(
        host: host, port: port,
        ScriptedServer.answering { _, peer in
          try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":\#(host)}}"#)
        })
    }
    let answer = Changing("127.0.0.1")
    let settings = upstream(port: first.port)
    let transport = try CurlTransport()
    let endpoint = try UpstreamEndpoint(settings.endpoints[0].url, written: settings.endpoints[0].url, place: "")
    let counters = UpstreamCounters()
    let upstream = Upstream(settings, [endpoint], transport: transport, counters: counters) { name in
      #expect(name == "upstream.test")
      return answer.current.isEmpty ? nil : [answer.current]
    }
    upstream.watch(HTTPHeaders())
    let sender = UpstreamTransport(upstream)
    func ask() async throws -> String {
      let response = try await sender.send(URLRequest(url: endpoint.url, httpBody: Data("{}".utf8)))
      var body = Data()
      for try await chunk in response.chunks { body += chunk }
      return String(decoding: body, as: UTF8.self)
    }
    try await wait { upstream.servers.first?.server.address == "127.0.0.1" }
    try #expect(await ask().contains("1"))
    answer.current = "127.0.0.2"
    // Requests go on while the name changes.
    try await wait {
      try #expect(await ask().contains("\"a\""))
      return upstream.servers.first?.server.address == "127.0.0.2"
    }
    try #expect(await ask().contains("2"))
    #expect(second.requests.last?.header("Host") == "upstream.test:\(first.port)")
    answer.current = ""
    try await wait { counters.values.failedLookups > 2 }
    try #expect(await ask().contains("2"))
  }

  private func upstream(port: Int) -> Manifest.Upstream {
    var settings = Manifest.Upstream(
      name: "main", endpoints: [Manifest.Upstream.Endpoint(url: "http://upstream.test:\(port)/graphql")])
    settings.resolveInterval = .milliseconds(10)
    return settings
  }

  @Test("an unknown name at the start does not stop the start, and is counted", .rule("gateway.2"))
  func unknownName() async throws {
    let service = try await UpstreamService(
      "upstreams: {main: {endpoints: ['http://nowhere.invalid/graphql'], resolve: 50ms, retry: {attempts: 1}}}")
    #expect((await service.failure() as? TransportError)?.code == .nameNotResolved)
    try await wait { service.host.live.current.host.upstreams["main"]?.counters.values.failedLookups ?? 0 > 0 }
  }

  @Test("each address of a name is an endpoint, at most 64, and IP addresses and localhost are not looked up", .rule("gateway.2"))
  func addresses() async throws {
    let urls = ["http://many.test/", "http://127.0.0.1/", "http://[::1]/", "http://localhost/"]
    let settings = Manifest.Upstream(name: "main", endpoints: urls.map { Manifest.Upstream.Endpoint(url: $0) })
    let endpoints = try urls.map { try UpstreamEndpoint($0, written: $0, place: "") }
    #expect(endpoints.map(\.lookedUpName) == ["many.test", nil, nil, nil])
    let upstream = Upstream(settings, endpoints, transport: try CurlTransport(), counters: UpstreamCounters())
    let names = EndpointNames(endpoints) { _ in (0..<10_000).map { "10.0.\($0 / 250).\($0 % 250)" } + ["10.0.0.1"] }
    await names.lookUpAll(upstream)
    #expect(upstream.servers.count { $0.server.entry == 0 } == 64)
    #expect(upstream.servers.suffix(3).allSatisfy { $0.server.address == nil })
  }

  @Test("the system's lookup returns addresses", .rule("gateway.2"))
  func system() async throws {
    try #expect(#require(await SystemNames.lookUp("localhost")).contains { ["127.0.0.1", "::1"].contains($0) })
    #expect(await SystemNames.lookUp("nowhere.invalid") == nil)
  }
}
