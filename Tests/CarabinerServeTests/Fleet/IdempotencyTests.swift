import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

/// Mutations with a key, in gateways with a real redis-server.
@Suite("carabiner serve: idempotent mutations")
struct IdempotencyTests {
  private static let once = "idempotency: {}"

  private func body(_ name: String, _ variables: String = "{}") -> String {
    #"{"query":"mutation \#(name) { n }","operationName":"\#(name)","variables":\#(variables)}"#
  }

  private func mutate(
    _ gateway: ServeProcess, _ name: String = "A", key: String? = "k", _ variables: String = "{}", _ headers: [String] = []
  ) throws -> RawAnswer {
    try RawAnswer(
      gateway.endpoint, body: body(name, variables), headers: (key.map { ["Idempotency-Key: \($0)"] } ?? []) + headers)
  }

  private func code(_ answer: RawAnswer) throws -> String? {
    try JSONValue(parsing: answer.text)["errors"]?.array?.first?["extensions"]?["code"]?.string
  }

  private func isReplayed(_ answer: RawAnswer) -> Bool {
    answer.head.contains { $0.lowercased() == "idempotency-replayed: true" }
  }

  @Test("a mutation with a key runs once, and other gateways repeat its answer with its header fields", .rule("redis.23"))
  func once() async throws {
    let stand = try await SharedStand()
    let (one, other) = (try stand.gateway(Self.once), try stand.gateway(Self.once))
    for gateway in [one, other] { try await stand.waitUntilConnected(gateway) }
    let first = try mutate(one)
    #expect(first.status == 200 && !isReplayed(first), "\(first.text)")
    for gateway in [other, one] {
      let again = try mutate(gateway)
      #expect(again.status == 200 && again.text == first.text && isReplayed(again), "\(again.head)")
      #expect(again.head.contains { $0.lowercased() == "x-number: 1" })
    }
    // In the format that this client accepts.
    let strict = try mutate(other, "A", key: "k", "{}", ["Accept: application/graphql-response+json"])
    #expect(strict.head.contains { $0.hasPrefix("Content-Type: application/graphql-response+json") })
    #expect(stand.upstream.count == 1)
    #expect(try mutate(one, key: nil).status == 200)
    #expect(try mutate(one, key: "another").status == 200)
    #expect(stand.upstream.count == 3)
    #expect(try await ScrapedMetrics(other)["carabiner_idempotency_total{result=replayed}"] == 2)
  }

  @Test(
    "while it runs, the answer is 409 with a delay; another request with the key is 422; queries do not care", .rule("redis.23"))
  func refusals() async throws {
    let stand = try await SharedStand()
    let (one, other) = (try stand.gateway(Self.once), try stand.gateway(Self.once))
    for gateway in [one, other] { try await stand.waitUntilConnected(gateway) }
    let running = try RawRequest(one.endpoint, body: body("Held"), headers: ["Idempotency-Key: k"])
    try await stand.upstream.waitUntilAsked()
    let meanwhile = try mutate(other, "Held")
    #expect(meanwhile.status == 409)
    #expect(try code(meanwhile) == "IDEMPOTENCY_IN_PROGRESS")
    #expect(meanwhile.head.contains { $0.lowercased() == "retry-after: 1" })
    for (name, variables) in [("B", "{}"), ("Held", #"{"a":1}"#)] {
      let reused = try mutate(other, name, variables)
      #expect(reused.status == 422)
      #expect(try code(reused) == "IDEMPOTENCY_KEY_REUSED")
    }
    let query = try RawAnswer(other.endpoint, body: #"{"query":"{ n }"}"#, headers: ["Idempotency-Key: k"])
    #expect(query.status == 200 && !isReplayed(query))
    stand.upstream.open()
    #expect(running.answer().status == 200)
    #expect(stand.upstream.count == 2)
  }

  @Test("kill -9 of the gateway in the middle: the mutation does not run again", .rule("redis.23"))
  func killed() async throws {
    let stand = try await SharedStand()
    let (one, other) = (try stand.gateway(Self.once), try stand.gateway(Self.once))
    for gateway in [one, other] { try await stand.waitUntilConnected(gateway) }
    let running = try RawRequest(one.endpoint, body: body("Held"), headers: ["Idempotency-Key: k"])
    try await stand.upstream.waitUntilAsked()
    #expect(one.end(with: SIGKILL) == -SIGKILL)
    _ = running.answer()
    stand.upstream.open()
    #expect(try code(try mutate(other, "Held")) == "IDEMPOTENCY_IN_PROGRESS")
    // A lease is renewed each 20 s, and is over after 60 s.
    _ = try stand.redis.ask(
      "EVAL",
      """
      local key = redis.call('KEYS', '{crb:shop}:i:*')[1]
      local time = redis.call('TIME')[1] - 62
      redis.call('SET', key, string.sub(redis.call('GET', key), 1, -14) .. string.format('%010d000', time), 'KEEPTTL')
      """, "0")
    let late = try mutate(other, "Held")
    #expect(late.status == 409)
    #expect(try code(late) == "IDEMPOTENCY_UNKNOWN")
    #expect(stand.upstream.count == 1)
  }

  @Test("a client that leaves gets the answer when it asks again", .rule("redis.23"))
  func left() async throws {
    let stand = try await SharedStand()
    let gateway = try stand.gateway(Self.once)
    try await stand.waitUntilConnected(gateway)
    let leaving = try ClientSocket(port: gateway.port)
    let held = body("Held")
    leaving.send(
      "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\n"
        + "Content-Length: \(held.utf8.count)\r\n\r\n\(held)")
    try await stand.upstream.waitUntilAsked()
    leaving.reset()
    // The gateway has seen that when it has no connection of a client.
    #expect(await eventually { try await ScrapedMetrics(gateway)["carabiner_connections{}"] == 0 })
    stand.upstream.open()
    var answer = try mutate(gateway, "Held")
    _ = await eventually {
      answer = try mutate(gateway, "Held")
      return answer.status != 409
    }
    #expect(answer.status == 200 && isReplayed(answer), "\(answer.text)")
    #expect(answer.text == #"{"data":{"n":"1"}}"#)
    #expect(stand.upstream.count == 1)
  }

  @Test(
    "a mutation that was not sent gives its key back; one that was sent and lost is unknown; a large answer is not repeated",
    .rule("redis.23"))
  func ends() async throws {
    let stand = try await SharedStand()
    // A port at which nothing listens.
    let port = try await RedisServer().port
    let apart = try stand.gateway(Self.once, endpoint: "http://127.0.0.1:\(port)/graphql")
    let gateway = try stand.gateway("idempotency: {body: 1KiB}")
    for gateway in [apart, gateway] { try await stand.waitUntilConnected(gateway) }
    #expect(try code(try mutate(apart)) == "UPSTREAM_UNREACHABLE")
    #expect(try mutate(gateway).status == 200)
    let lost = try mutate(gateway, "Lost", key: "lost")
    #expect(lost.status == 502, "\(lost.text)")
    #expect(try code(try mutate(gateway, "Lost", key: "lost")) == "IDEMPOTENCY_UNKNOWN")
    #expect(try mutate(gateway, "Large", key: "large").text.utf8.count > 5000)
    #expect(try code(try mutate(gateway, "Large", key: "large")) == "IDEMPOTENCY_UNKNOWN")
    #expect(stand.upstream.count == 3)
  }

  @Test(
    "without Redis a mutation with a key is refused with 503, or runs if the operator chose it; others run", .rule("redis.23"))
  func away() async throws {
    let stand = try await SharedStand()
    let strict = try stand.gateway(Self.once, budget: "500ms")
    let lenient = try stand.gateway("idempotency: {header: x-once, on-unavailable: run}", budget: "500ms")
    for gateway in [strict, lenient] { try await stand.waitUntilConnected(gateway) }
    try await stand.redis.stop()
    let refused = try mutate(strict)
    #expect(refused.status == 503)
    #expect(try code(refused) == "IDEMPOTENCY_UNAVAILABLE")
    #expect(try mutate(strict, key: nil).status == 200)
    #expect(try mutate(lenient, key: nil, "{}", ["X-Once: k"]).status == 200)
    stand.redis.end()
    #expect(try mutate(strict).status == 503)
    #expect(try mutate(lenient, key: nil, "{}", ["X-Once: k"]).status == 200)
    #expect(stand.upstream.count == 3)
    // It has lost all keys.
    try await stand.redis.restart()
    #expect(await eventually { try mutate(strict).status == 200 })
  }

  @Test("a key has 1 to 255 visible ASCII characters, and belongs to one mutation and one client", .rule("redis.23"))
  func keys() async throws {
    let stand = try await SharedStand()
    let gateway = try stand.gateway(
      "idempotency: {}\n  limits: {rate: 1000/s, rate-key: x-client, maximum-batch: 3}")
    try await stand.waitUntilConnected(gateway)
    for key in ["a b", "ä", String(repeating: "k", count: 256)] {
      let answer = try mutate(gateway, key: key)
      #expect(answer.status == 400, "\(key)")
      #expect(try code(answer) == "IDEMPOTENCY_KEY_INVALID")
    }
    let twice = try mutate(gateway, "A", key: "k", "{}", ["Idempotency-Key: other"])
    #expect(twice.status == 400)
    let list = try RawAnswer(gateway.endpoint, body: "[\(body("A")),\(body("B"))]", headers: ["Idempotency-Key: k"])
    #expect(list.status == 400)
    #expect(stand.upstream.count == 0)
    #expect(try mutate(gateway, key: String(repeating: "k", count: 255)).status == 200)
    for client in ["one", "two"] {
      let answer = try mutate(gateway, "A", key: "k", "{}", ["X-Client: \(client)"])
      #expect(answer.status == 200 && !isReplayed(answer), "\(answer.text)")
    }
    #expect(isReplayed(try mutate(gateway, "A", key: "k", "{}", ["X-Client: one"])))
    // A stored answer is for one client, so a request that could be of either gets none.
    let both = try mutate(gateway, "A", key: "k", "{}", ["X-Client: one", "X-Client: two"])
    #expect(both.status == 400 && !isReplayed(both), "\(both.text)")
    #expect(try code(both) == "CLIENT_KEY_REPEATED")
    #expect(stand.upstream.count == 3)
  }

  @Test("a reload keeps the keys, and removes the rule with its settings", .rule("redis.23"))
  func reloaded() async throws {
    let stand = try await SharedStand()
    let gateway = try stand.gateway(Self.once)
    try await stand.waitUntilConnected(gateway)
    #expect(try mutate(gateway).status == 200)
    try await stand.reload(gateway, "idempotency: {keep: 1h}")
    #expect(isReplayed(try mutate(gateway)))
    try await stand.reload(gateway, "")
    #expect(!isReplayed(try mutate(gateway)))
    #expect(stand.upstream.count == 2)
  }
}
