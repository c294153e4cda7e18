import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Gateways whose store is in a real redis-server.
@Suite("carabiner serve: the store in Redis")
struct RedisStoreServeTests {
  private let upstream: CountingUpstream
  private let folder: StoreFolder
  private let redis: RedisServer

  init() async throws {
    upstream = try CountingUpstream()
    folder = try StoreFolder()
    redis = try await RedisServer()
  }

  /// A gateway whose reads have time, because the machine of a test may be busy.
  private func gateway(_ name: String = "shop.yaml", _ extra: String = "", environment: [String: String] = [:]) throws
    -> ServeProcess
  {
    _ = try folder.write(
      """
      carabiner: 1
      serve: {cache-policy: cacheFirst}
      built-ins: {store: {redis: {urls: ["\(redis.url)"], read-budget: 10s\(extra)}}}
      """, to: name)
    return try ServeProcess(folder, manifest: name, endpoint: upstream.endpoint, environment: environment)
  }

  private func answer(_ gateway: ServeProcess, _ query: String = "query A { n }") throws -> String {
    let answer = try RawAnswer(gateway.endpoint, body: #"{"query":\#(JSONValue.string(query))}"#, headers: [])
    return try #require(try JSONValue(parsing: answer.text)["data"]?["n"]?.string, "\(answer.text)")
  }

  /// Asks until two answers are the same, which only the store can give: a response is stored a moment after it was sent.
  private func hit(_ gateway: ServeProcess) async throws -> String {
    var last = try answer(gateway)
    for _ in 0..<3000 {
      let next = try answer(gateway)
      if next == last { return next }
      last = next
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("no hit: \(gateway.errors)")
    return last
  }

  /// Waits up to a minute; the caller checks what it waited for.
  private func wait(until condition: () throws -> Bool) async throws {
    _ = await eventually(within: .seconds(60), condition)
  }

  /// Asks until the answer is in Redis. Before that, it may only be in the memory of the gateway.
  private func waitUntilStored(_ gateway: ServeProcess, _ prefix: String = "shop") async throws {
    try await wait {
      _ = try answer(gateway)
      return try redis.ask("EXISTS", "{crb:\(prefix)}:f:QUERY_ROOT|n") == "1"
    }
  }

  @Test("gateways with the same prefix share the store; without one it is the name of the manifest's file", .rule("redis.1"))
  func shared() async throws {
    let (one, other) = (try gateway(), try gateway("other.yaml", ", prefix: shop"))
    _ = try await hit(one)
    _ = try await hit(other)
    // Until both are connected, each has a value of its own.
    try await wait { try answer(one) == answer(other) }
    #expect(try answer(one) == answer(other))
    try await waitUntilStored(one)
    #expect(try redis.ask("EXISTS", "{crb:shop}:f:QUERY_ROOT|n") == "1")
    let foreign = try gateway("third.yaml")
    try await waitUntilStored(foreign, "third")
    #expect(try answer(foreign) != answer(one))
  }

  @Test("while Redis is silent or gone, no operation fails, and afterwards the store is used again", .rule("convention.5"))
  func away() async throws {
    let gateway = try gateway("shop.yaml", ", connections: 2, time-to-live: 1h, write-queue: 1MiB")
    let first = try await hit(gateway)
    redis.end()
    // Records in memory are used until the loss is noticed.
    try await wait { try answer(gateway) != first }
    for _ in 0..<20 { #expect(try answer(gateway) != first) }
    try await redis.restart()
    #expect(try await hit(gateway) != first)
  }

  @Test(
    "while a proxy in front of Redis reads nothing, the memory of the gateway grows by less than 32 MiB",
    .rule("redis.11", "redis.18"))
  func deafProxy() async throws {
    let control = RelayControl(exempting: "SUBSCRIBE")
    let proxy = try ScriptedServer { [port = redis.port] peer in try peer.relay(to: port, control) }
    let text = String(repeating: "x", count: 300_000)
    let large = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond(headers: "Content-Type: application/json\r\n", body: #"{"data":{"n":"\#(text)"}}"#)
      })
    _ = try folder.write(
      """
      carabiner: 1
      serve: {cache-policy: networkFirst}
      built-ins: {store: {redis: {urls: ["redis://127.0.0.1:\(proxy.port)"], write-queue: 4MiB, near: {records: 0}}}}
      """, to: "deaf.yaml")
    let gateway = try ServeProcess(folder, manifest: "deaf.yaml", endpoint: "\(large.origin)/graphql")
    let client = try ClientSocket(port: gateway.port)
    func ask(_ count: Int) async throws {
      for number in 0..<count {
        let body = #"{"query":"{ n(a: \#(number)) }"}"#
        let head =
          "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        try await offThePool {
          try #require(client.send(head + body))
          var bytes = 0
          while bytes < text.utf8.count { bytes += try #require(client.receive(patience: 60_000)).count }
        }
      }
    }
    try await ask(50)
    try await wait { try redis.ask("DBSIZE") != "0" }
    control.holdRequests()
    let before = try gateway.residentBytes()
    // 90 MB were to be written.
    try await ask(300)
    let growth = try gateway.residentBytes() - before
    #expect(growth < 32 << 20)
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics.series("carabiner_redis_writes_dropped_total").reduce(0) { $0 + (metrics[$1] ?? 0) } > 0)
  }

  @Test(
    "the password is a reference, a wrong one is logged as critical, and neither log nor answer contains it", .rule("redis.3"))
  func password() async throws {
    _ = try redis.ask("CONFIG", "SET", "requirepass", "s3cret")
    let right = try gateway("shop.yaml", #", password: "${env:REDIS_PASSWORD}""#, environment: ["REDIS_PASSWORD": "s3cret"])
    _ = try await hit(right)
    let wrong = try gateway("wrong.yaml", #", password: "${env:REDIS_PASSWORD}""#, environment: ["REDIS_PASSWORD": "gu3ss"])
    try await wait { wrong.errors.contains("critical") }
    #expect(wrong.errors.contains("critical"), "\(wrong.errors)")
    #expect(!wrong.errors.contains("gu3ss") && !right.errors.contains("s3cret"))
    #expect(try answer(wrong) != answer(wrong))
  }

  @Test("a reload logs in with the new content of the password's file, although the manifest is the same", .rule("redis.3"))
  func newPassword() async throws {
    func user(_ password: String) throws {
      #expect(try redis.ask("ACL", "SETUSER", "shop", "reset", "on", ">" + password, "~*", "&*", "+@all") == "OK")
      _ = try folder.write(password, to: "password")
    }
    try user("s3cret")
    let gateway = try gateway("shop.yaml", #", user: shop, password: "${file:password}""#)
    try await waitUntilStored(gateway)
    try user("n3w")
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 0, "\(reload.output)\(reload.errors)")
    // Connections that logged in earlier would go on.
    _ = try redis.ask("CLIENT", "KILL", "USER", "shop")
    _ = try redis.ask("FLUSHALL")
    try await waitUntilStored(gateway)
    #expect(try redis.ask("EXISTS", "{crb:shop}:f:QUERY_ROOT|n") == "1")
  }

  @Test("metrics report the state of Redis, commands, reads, dropped writes and messages", .rule("redis.21"))
  func metrics() async throws {
    let gateway = try gateway("shop.yaml", ", near: {records: 0}")
    try await waitUntilStored(gateway)
    _ = try await hit(gateway)
    let text = try await ToolRun(
      URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", gateway.socket, "http://x/metrics"]
    ).output
    for line in [
      #"carabiner_redis_up{use="store"} 1"#, #"carabiner_redis_circuit_open{use="store"} 0"#,
      #"carabiner_redis_reconnects_total{use="invalidations"} 0"#, "carabiner_redis_budget_exhausted_total 0",
      "carabiner_redis_malformed_total 0",
    ] { #expect(text.contains(line + "\n"), "\(line)") }
    for name in ["commands_total{result=\"ok\"}", "invalidations_total{direction=\"sent\"}", "read_seconds_count"] {
      #expect(text.contains("carabiner_redis_\(name) "), "\(name)")
      #expect(!text.contains("carabiner_redis_\(name) 0\n"), "\(name)")
    }
    #expect(text.contains("# TYPE carabiner_redis_writes_dropped_total counter"))
  }

  @Test("the first example of the page Share the store in Redis runs")
  func page() async throws {
    let page = CommandRun.root.appending(path: "Sources/Carabiner/Documentation.docc/RedisStore.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let example = try #require(text.firstMatch(of: /```yaml\n(carabiner: 1\n[^`]*)```/)).1
    let own = example.replacing("redis://127.0.0.1:6379", with: redis.url).replacing(
      "read-budget: 20ms", with: "read-budget: 10s")
    _ = try folder.write(String(own), to: "page.yaml")
    let gateway = try ServeProcess(folder, manifest: "page.yaml", endpoint: upstream.endpoint)
    try await waitUntilStored(gateway)
    #expect(try redis.ask("EXISTS", "{crb:shop}:f:QUERY_ROOT|n") == "1")
  }

  @Test("bad keys are reported with line and column", .rule("convention.1"))
  func golden() async throws {
    let path = try folder.write(
      """
      carabiner: 1
      endpoint: http://127.0.0.1:1/graphql
      settings: {store-records: 10, store-fields: 10}
      built-ins:
        store:
          file: cache.sqlite
          redis:
            urls: ["redis://:s3cret@localhost", "http://localhost", "redis://localhost/x", "redis://localhost/2"]
            user: carabiner
            certificate: absent.pem
            connections: 9
            prefix: "a b"
            read-budget: 11s
            write-queue: none
            time-to-live: 0s
            cluster: true
            sentinel: true
      """, to: "bad.yaml")
    let run = try await CommandRun(["check", "-m", path])
    #expect(run.status == 3)
    try GoldenFile("check-redis.txt").expect(run.errors.replacing("\(folder.path)/", with: ""))
  }

  @Test("a manifest's file whose name cannot be a prefix needs one", .rule("redis.5"))
  func unnamed() async throws {
    let path = try folder.write(
      "carabiner: 1\nendpoint: http://127.0.0.1:1/graphql\nbuilt-ins: {store: {redis: {urls: ['redis://localhost']}}}\n",
      to: "my shop.yaml")
    let run = try await CommandRun(["check", "-m", path])
    #expect(run.status == 3)
    #expect(run.errors.contains("the prefix is missing"), "\(run.errors)")
  }
}
