import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner serve: upstreams")
struct UpstreamTests {
  private func server(_ status: String = "200 OK", body: String = #"{"data":{"a":1}}"#) throws -> ScriptedServer {
    try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(status, headers: "Content-Type: application/json\r\n", body: body)
      })
  }

  @Test(
    "metrics and status show endpoints, retries and ejections, without secrets and words of clients",
    .rule("gateway.13", "convention.4"))
  func metrics() async throws {
    let (good, bad) = (try server(), try server("503 Unavailable"))
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      upstreams:
        main:
          endpoints: ["http://127.0.0.1:\(good.port)/graphql?key=hidden", "http://user:hidden@127.0.0.1:\(bad.port)/graphql"]
          balance: round-robin
          outliers: {failures: 3}
          breaker: {}
          health: {path: /up, interval: 1h, status: [200-599]}
      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil)
    for _ in 0..<20 { #expect(try gateway.query("query ClientsWord { a }").status == 200) }
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped.problems == [])
    let labels = [good, bad].map { "endpoint=http://127.0.0.1:\($0.port)/graphql" }
    for (series, value) in [
      ("carabiner_upstream_endpoint_available{\(labels[0]),upstream=main}", 1),
      ("carabiner_upstream_endpoint_available{\(labels[1]),upstream=main}", 0),
      ("carabiner_upstream_endpoint_requests_total{\(labels[0]),result=2xx,upstream=main}", 20),
      ("carabiner_upstream_endpoint_requests_total{\(labels[1]),result=5xx,upstream=main}", 3),
      ("carabiner_upstream_ejections_total{\(labels[0]),upstream=main}", 0),
      ("carabiner_upstream_ejections_total{\(labels[1]),upstream=main}", 1),
      ("carabiner_upstream_retries_total{outcome=sent,reason=503,upstream=main}", 3),
      ("carabiner_upstream_retries_total{outcome=succeeded,reason=503,upstream=main}", 3),
      ("carabiner_upstream_panic{upstream=main}", 0), ("carabiner_upstream_breaker_open{upstream=main}", 0),
      ("carabiner_upstream_waiting{upstream=main}", 0), ("carabiner_upstream_under_way{upstream=main}", 0),
      ("carabiner_upstream_health_checks_total{result=failed,upstream=main}", 0),
      ("carabiner_upstream_resolve_failures_total{upstream=main}", 0),
    ] { #expect(scraped[series] == Double(value), "\(series)") }
    let status = try await gateway.ask("status").output
    #expect(status.contains("upstream     main: 0 under way, 0 waiting, breaker closed"))
    #expect(status.contains("http://127.0.0.1:\(bad.port)/graphql: ejected, weight 1, 0 under way, ejected 1 times"))
    #expect(!status.contains("hidden") && !gateway.errors.contains("hidden"))
    #expect(!status.contains("ClientsWord"))
  }

  @Test("--endpoint replaces the endpoints of main, and a rule's upstream stays", .rule("convention.2"))
  func flag() async throws {
    let (flag, main, other) = (try server(), try server(), try server(body: #"{"data":{"a":2}}"#))
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      upstreams: {main: {endpoints: ["\(main.origin)/"]}, other: {endpoints: ["\(other.origin)/"]}}
      rules: [{when: {operation: Other}, upstream: other}]
      """, to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(flag.origin)/")
    #expect(try gateway.query("query A { a }").status == 200)
    #expect(try gateway.query("query Other { a }").text.contains("2"))
    #expect(flag.requests.count == 1 && main.requests.isEmpty && other.requests.count == 1)
    #expect(try await gateway.status()["upstreams"]?[0]?["endpoints"]?[0]?["url"] == .string("\(flag.origin)/"))
  }

  @Test("a rule with a path applies to operations at this path, and their lists too", .rule("gateway.12"))
  func path() async throws {
    let (main, other) = (try server(), try server(body: #"{"data":{"a":2}}"#))
    let folder = try StoreFolder()
    _ = try folder.write(
      """
      carabiner: 1
      upstreams: {main: {endpoints: ["\(main.origin)/"]}, other: {endpoints: ["\(other.origin)/"]}}
      rules:
        - {when: {path: /elsewhere}, chain: {http: [response-code]}}
        - {when: {path: /public/graphql}, upstream: other}
      """, to: "chain.yaml")
    let normal = try ServeProcess(folder, endpoint: nil)
    #expect(try normal.query("{ a }").text.contains("1"))
    let open = try ServeProcess(folder, endpoint: nil, ["--path", "/public/graphql"])
    #expect(try RawAnswer("\(open.origin)/public/graphql", body: #"{"query":"{ a }"}"#).text.contains("2"))
  }

  @Test("a reload with another upstream takes it; one with a mistake keeps the old generation", .rule("convention.1"))
  func reload() async throws {
    let (first, second) = (try server(), try server(body: #"{"data":{"a":2}}"#))
    let folder = try StoreFolder()
    func write(_ upstream: String) throws {
      _ = try folder.write("carabiner: 1\nupstreams: {main: \(upstream)}\n", to: "chain.yaml")
    }
    try write("{endpoints: ['\(first.origin)/']}")
    let gateway = try ServeProcess(folder, endpoint: nil)
    #expect(try gateway.query("{ a }").text.contains("1"))
    try write("{endpoints: ['\(second.origin)/'], retry: {attempts: 0}}")
    let refused = try await gateway.ask("reload")
    #expect(refused.status == 3)
    #expect(refused.output.contains("/upstreams/main/retry/attempts (line 2, column"))
    #expect(try gateway.query("{ a }").text.contains("1"))
    try write("{endpoints: ['\(second.origin)/']}")
    #expect(try await gateway.ask("reload").output.contains("~ upstream main"))
    #expect(try gateway.query("{ a }").text.contains("2"))
  }
}
