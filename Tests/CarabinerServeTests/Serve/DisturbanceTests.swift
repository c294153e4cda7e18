import CommandTools
import Foundation
import ScriptedServer
import Synchronization
import TestTools
import Testing

/// Upstreams that come and go, and a clock that jumps.
@Suite("carabiner serve: disturbances from outside")
struct DisturbanceTests {
  private func server(port: Int = 0, isOpen: Bool = true, _ isUp: @escaping @Sendable () -> Bool = { true }) throws
    -> ScriptedServer
  {
    try ScriptedServer(
      isOpen: isOpen, port: port,
      ScriptedServer.answering { _, peer in
        guard isUp() else { return try peer.respond("503 Unavailable", body: "") }
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
  }

  private func manifest(_ servers: ScriptedServer..., more: String = "") -> String {
    let endpoints = servers.map { "\"\($0.origin)/\"" }.joined(separator: ", ")
    return """
      carabiner: 1
      upstreams:
        main:
          endpoints: [\(endpoints)]
          retry: {budget: 100%, base-delay: 1ms, maximum-delay: 10ms}
          outliers: {failures: 3, ejection: 100ms}
      \(more)
      """
  }

  @Test("while an endpoint flaps every 100 ms, the other one answers each query", .rule("gateway.4", "gateway.10"))
  func flapping() throws {
    let flaps = Atomic(0)
    let start = ContinuousClock.now
    let flapping = try server {
      let isUp = Int((ContinuousClock.now - start) / .milliseconds(100)).isMultiple(of: 2)
      if !isUp { flaps.add(1, ordering: .relaxed) }
      return isUp
    }
    let steady = try server()
    let folder = try StoreFolder()
    _ = try folder.write(manifest(flapping, steady), to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil)
    // Until it has failed often enough, however long the queries take.
    var queries = 0
    while queries < 100 || flaps.load(ordering: .relaxed) < 5 {
      queries += 1
      #expect(try gateway.query("{ a }").status == 200)
    }
  }

  @Test(
    "when all endpoints are gone, queries fail at once with 502, and succeed again when they are back",
    .rule("gateway.10", "gateway.11"))
  func allGone() async throws {
    var servers = [try server(), try server()]
    let ports = servers.map(\.port)
    let folder = try StoreFolder()
    _ = try folder.write(manifest(servers[0], servers[1]), to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: nil)
    for round in 0..<3 {
      for _ in 0..<20 { #expect(try gateway.query("{ a }").status == 200, "round \(round)") }
      servers = []
      try await wait(for: "the end of the endpoints") { try gateway.query("{ a }").status != 200 }
      for _ in 0..<20 { #expect([502, 503].contains(try gateway.query("{ a }").status)) }
      servers = try ports.map { try server(port: $0) }
      try await wait(for: "an endpoint") { try gateway.query("{ a }").status == 200 }
    }
  }

  private static let fakeClock = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

  @Test(
    "a clock that jumps by an hour fails no query, ejects no endpoint and ends no connection",
    .rule("gateway.8", "gateway.10", "gateway.24"),
    .enabled(if: FileManager.default.isReadableFile(atPath: fakeClock), "needs the package faketime"))
  func clock() async throws {
    let servers = [try server(), try server()]
    let folder = try StoreFolder()
    _ = try folder.write(
      manifest(servers[0], servers[1], more: "serve: {limits: {rate: 100000/s}}"), to: "chain.yaml")
    let clock = try folder.write("+0\n", to: "clock")
    let gateway = try ServeProcess(
      folder, endpoint: nil,
      environment: [
        "LD_PRELOAD": Self.fakeClock, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
      ])
    let client = try ClientSocket(port: gateway.port)
    let body = #"{"query":"{ a }"}"#
    let head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    func hour() throws -> Int {
      client.send(head + body)
      let answer = client.read { $0.contains("\"a\":1") || $0.contains("errors") }
      #expect(answer.text.hasPrefix("HTTP/1.1 200") && !answer.isClosed, "\(answer.text)")
      return try #require(answer.text.firstMatch(of: /Date: .* (\d\d):\d\d:\d\d GMT/).flatMap { Int($0.1) })
    }
    let before = try hour()
    for jump in ["+3600", "-3600", "+0"] {
      _ = try folder.write("\(jump)\n", to: "clock")
      for _ in 0..<30 { _ = try hour() }
    }
    _ = try folder.write("+3600\n", to: "clock")
    // The date of responses is made once a second.
    try await wait(for: "the new time") { try hour() != before }
    let metrics = try await ScrapedMetrics(gateway)
    for server in servers {
      let label = "endpoint=\(server.origin)/"
      #expect(metrics["carabiner_upstream_endpoint_available{\(label),upstream=main}"] == 1)
      #expect(metrics["carabiner_upstream_ejections_total{\(label),upstream=main}"] == 0)
    }
  }

  private func wait(for what: String, _ condition: () throws -> Bool) async throws {
    #expect(await eventually(condition), "waited for \(what)")
  }
}
