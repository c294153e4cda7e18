import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner serve: settings in the manifest")
struct SettingsTests {
  private func server(_ body: String = #"{"data":{"a":1}}"#) throws -> ScriptedServer {
    try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond("200 OK", headers: "Content-Type: application/json\r\n", body: body)
      })
  }

  private func ask(_ gateway: ServeProcess, _ path: String, _ query: String = "{ a }", headers: [String] = []) throws -> RawAnswer
  {
    try RawAnswer(
      "\(gateway.origin)\(path)", body: JSONValue.object(["query": .string(query)]).description, headers: headers)
  }

  /// The settings of `carabiner status --settings` by name, as `SOURCE VALUE`.
  private func settings(_ gateway: ServeProcess) async throws -> [String: String] {
    let json = try JSONValue(parsing: try await gateway.ask("status", "--settings", "--format", "json").output)
    return Dictionary(
      uniqueKeysWithValues: (json["settings"]?.array ?? []).map {
        ($0["name"]?.string ?? "", "\($0["source"]?.string ?? "") \($0["value"]?.string ?? "")")
      })
  }

  @Test("each path of serve.paths has operations, another one has not, and a reload changes them", .rule("gateway.18"))
  func paths() async throws {
    let (main, other) = (try server(), try server(#"{"data":{"a":2}}"#))
    let folder = try StoreFolder()
    func write(_ paths: String) throws {
      _ = try folder.write(
        """
        carabiner: 1
        upstreams: {main: {endpoints: ["\(main.origin)/"]}, other: {endpoints: ["\(other.origin)/"]}}
        rules: [{when: {path: /public/graphql}, upstream: other}]
        serve: {paths: \(paths)}
        """, to: "chain.yaml")
    }
    try write("[/graphql, /public/graphql]")
    let gateway = try ServeProcess(folder, endpoint: nil)
    #expect(try ask(gateway, "/graphql").text.contains("1"))
    #expect(try ask(gateway, "/public/graphql").text.contains("2"))
    let third = try ask(gateway, "/third")
    #expect(third.status == 404 && third.text.contains("the GraphQL endpoint is /graphql, /public/graphql"))
    #expect(try ask(gateway, "/graphql/").status == 404)
    try write("[/third]")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try ask(gateway, "/third").text.contains("1"))
    #expect(try ask(gateway, "/graphql").status == 404)
    try write("[/metrics]")
    #expect(try await gateway.ask("reload").status == 3)
    #expect(try ask(gateway, "/third").status == 200)
  }

  @Test("--path replaces the paths of the manifest", .rule("gateway.18", "convention.2"))
  func pathFlag() async throws {
    let upstream = try server()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\nserve: {paths: [/a, /b]}\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/", ["--path", "/c"])
    #expect(try ask(gateway, "/c").status == 200)
    #expect(try ask(gateway, "/a").status == 404)
    #expect(try await settings(gateway)["serve/paths"] == "flag [/c]")
    let refused = try await CommandRun(["serve", "--path", "/metrics"])
    #expect(refused.status == 2 && refused.errors.contains("none of /healthz, /readyz, /metrics"))
  }

  @Test("a lower maximum-body of a reload holds for the next request, also on an open connection", .rule("gateway.15"))
  func maximumBody() async throws {
    let upstream = try server()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/")
    let body = #"{"query":"{ a }","extensions":{"filler":"\#(String(repeating: "x", count: 2000))"}}"#
    let request =
      "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    let client = try ClientSocket(port: gateway.port)
    client.send(request + body)
    #expect(client.read { $0.contains(#"{"a":1}"#) }.text.hasPrefix("HTTP/1.1 200"))
    _ = try folder.write("carabiner: 1\nserve: {limits: {maximum-body: 1000}}\n", to: "chain.yaml")
    #expect(try await gateway.ask("reload").output.contains("~ serve"))
    client.send(request + body)
    let rest = client.read(patience: 60_000).text
    #expect(rest.contains("HTTP/1.1 413") && rest.contains("longer than 1000 bytes"))
    #expect(try RawAnswer(gateway.endpoint, body: body).status == 413)
    #expect(try gateway.query("{ a }").status == 200)
    _ = try folder.write("carabiner: 1\nserve: {limits: {maximum-body: 1MiB}}\n", to: "chain.yaml")
    _ = try await gateway.ask("reload")
    #expect(try RawAnswer(gateway.endpoint, body: body).status == 200)
  }

  @Test("a rate, WebSockets, batches and the query page change with a reload", .rule("gateway.15"))
  func otherLimits() async throws {
    let upstream = try server()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(folder, endpoint: "\(upstream.origin)/")
    func upgrade() throws -> String {
      try RawAnswer(
        gateway.endpoint,
        headers: [
          "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
          "Sec-WebSocket-Protocol: unknown",
        ]
      ).text
    }
    func page() throws -> Int { try RawAnswer(gateway.endpoint, headers: ["Accept: text/html"]).status }
    let batch = #"[{"query":"{ a }"},{"query":"{ a }"}]"#
    #expect(try RawAnswer(gateway.endpoint, body: batch).text.contains("BATCHING_NOT_SUPPORTED"))
    #expect(try page() != 200)
    #expect(try upgrade().contains("SUBPROTOCOL_NOT_ACCEPTABLE"))
    _ = try folder.write(
      """
      carabiner: 1
      serve: {limits: {maximum-batch: 2, query-page: true, websocket: false, rate: 5/h, rate-key: x-user}}
      """, to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try RawAnswer(gateway.endpoint, body: batch).text.hasPrefix("["))
    #expect(try page() == 200)
    #expect(try !upgrade().contains("SUBPROTOCOL_NOT_ACCEPTABLE"))
    for _ in 0..<5 { #expect(try ask(gateway, "/graphql", headers: ["X-User: u"]).status == 200) }
    #expect(try ask(gateway, "/graphql", headers: ["X-User: u"]).status == 429)
    // Another limit leaves the counts of the rate.
    _ = try folder.write("carabiner: 1\nserve: {limits: {rate: 5/h, rate-key: x-user}}\n", to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try ask(gateway, "/graphql", headers: ["X-User: u"]).status == 429)
  }

  @Test("a flag wins over the manifest, also after a reload, and status shows each value with its source", .rule("convention.2"))
  func sources() async throws {
    let upstream = try server()
    let folder = try StoreFolder()
    let manifest = "carabiner: 1\nserve: {limits: {maximum-body: 2MiB, maximum-waiting: 7, query-page: true}}\n"
    _ = try folder.write(manifest, to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: "\(upstream.origin)/", ["--maximum-body", "100", "--drain", "9s", "--allow-origin", "https://a.test"])
    func check() async throws {
      let settings = try await settings(gateway)
      #expect(settings["serve/limits/maximum-body"] == "flag 100B")
      #expect(settings["serve/limits/maximum-waiting"] == "manifest 7")
      #expect(settings["serve/limits/query-page"] == "manifest true")
      #expect(settings["serve/limits/maximum-operations"] == "default 1024")
      #expect(settings["serve/limits/rate"] == "default none")
      #expect(settings["serve/limits/idle-timeout"] == "default 75s")
      #expect(settings["serve/limits/allow-origin"] == "flag [https://a.test]")
      #expect(settings["serve/paths"] == "default [/graphql]")
      #expect(settings["drain"] == "flag 9s" && settings["threads"] == "default 1")
      #expect(try RawAnswer(gateway.endpoint, body: #"{"query":"\#(String(repeating: " ", count: 200)){ a }"}"#).status == 413)
    }
    try await check()
    _ = try folder.write(manifest + "settings: {timeout: 9s}\n", to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    try await check()
    let text = try await gateway.ask("status", "--settings").output
    #expect(text.contains("serve/limits/maximum-waiting") && text.contains("  manifest  7\n"))
  }

  @Test(
    "with ready: {upstream: true}, a gateway without an available endpoint of main is not ready, and without the key it is",
    .rule("gateway.25"))
  func upstreamReadiness() async throws {
    let upstream = try server()
    let folder = try StoreFolder()
    func write(_ status: Int, _ ready: String) throws {
      _ = try folder.write(
        """
        carabiner: 1
        upstreams:
          main:
            endpoints: ["\(upstream.origin)/a", "\(upstream.origin)/b"]
            health: {path: /up, interval: 50ms, fall: 1, rise: 1, status: [\(status)]}
        serve: {ready: {upstream: \(ready)}}
        """, to: "chain.yaml")
    }
    try write(200, "true")
    let gateway = try ServeProcess(folder, endpoint: nil)
    #expect(try RawAnswer("\(gateway.origin)/readyz").status == 200)
    try write(404, "true")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(await eventually { try RawAnswer("\(gateway.origin)/readyz").status == 503 })
    #expect(try RawAnswer("\(gateway.origin)/readyz").text == "no endpoint of main is available\n")
    #expect(try RawAnswer("\(gateway.origin)/healthz").status == 200)
    #expect(try await gateway.status()["readiness"]?["reasons"] == ["no endpoint of main is available"])
    try write(404, "false")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(await eventually { try RawAnswer("\(gateway.origin)/readyz").status == 200 })
  }

  @Test("check reports each bad value of the gateway's keys with line and column", .rule("convention.1"))
  func golden() async throws {
    let folder = try StoreFolder()
    let path = try folder.write(
      """
      carabiner: 1
      serve:
        paths: [/graphql, /metrics, graphql, /graphql]
        limits:
          maximum-body: 2GiB
          maximum-head: 1
          maximum-operations: 0
          maximum-waiting: many
          rate: 100
          rate-key: "a b"
          idle-timeout: 30
          websocket: false
          legacy-websocket: true
          allow-origin: [example.org]
          maximum-bodies: 1MiB
        trusted-proxies: [10.0.0.1/8, proxy.test]
        forwarded-fields: 1
        listeners:
          - {address: "127.0.0.1:4000"}
          - {address: "127.0.0.1:4000", roles: [admin]}
          - {address: "localhost"}
          - {address: ":0", tls: {certificates: [{certificate: absent.pem}], client-certificate: require, minimum-version: 1.1}}
        shared: {urls: ["http://cache.test"], user: a, prefix: "a b", sync: 1ms, budget: 1h, near: {}}
        idempotency: {header: "a b", keep: 1s, body: 1GiB, on-unavailable: wait, stranger: 1}
      """, to: "bad.yaml")
    let run = try await CommandRun(["check", "-m", path])
    #expect(run.status == 3)
    try GoldenFile("check-gateway.txt").expect(run.errors.replacing("\(folder.path)/", with: ""))
  }
}
