import CarabinerRESP
import TestTools
import Testing

@testable import CarabinerRedis

/// The keys of mutations in a real redis-server.
@Suite("Keys of mutations in Redis")
struct MutationKeyTests {
  private let name = [UInt8](repeating: 1, count: 32)
  private let request = [UInt8](repeating: 2, count: 32)

  private func lease(_ claim: MutationKeys.Claim) throws -> MutationLease {
    guard case .first(let lease) = claim else {
      Issue.record("\(claim)")
      throw RedisError(.conflict, "no lease")
    }
    return lease
  }

  /// A word for a claim.
  private func word(_ claim: MutationKeys.Claim) -> String {
    switch claim {
    case .first: "first"
    case .answered(let answer): "answered \(String(decoding: answer, as: UTF8.self))"
    case .running: "running"
    case .reused: "reused"
    case .unknown: "unknown"
    }
  }

  @Test("a key runs once; then its answer is repeated to all gateways, and other requests are refused", .rule("redis.23"))
  func states() async throws {
    let stand = try await SharedStand()
    let one = MutationKeys(try await stand.store(), life: .seconds(300))
    let other = MutationKeys(try await stand.store(), life: .seconds(300))
    let lease = try lease(try await one.claim(name, fingerprint: request))
    #expect(word(try await other.claim(name, fingerprint: request)) == "running")
    #expect(word(try await other.claim(name, fingerprint: name)) == "reused")
    await lease.end(with: Array("done".utf8))
    #expect(word(try await other.claim(name, fingerprint: request)) == "answered done")
    #expect(word(try await one.claim(name, fingerprint: request)) == "answered done")
    #expect(word(try await other.claim(name, fingerprint: name)) == "reused")
    #expect(try stand.count(of: "{crb:shop}:i:") == 1)
    let life = Int(try stand.redis.ask("EVAL", "return redis.call('PTTL', redis.call('KEYS', '*')[1])", "0")) ?? 0
    #expect((1...300_000).contains(life))
  }

  @Test("of many claims at the same time, one is the first", .rule("redis.23"))
  func race() async throws {
    let stand = try await SharedStand()
    let keys = [
      MutationKeys(try await stand.store(), life: .seconds(300)), MutationKeys(try await stand.store(), life: .seconds(300)),
    ]
    let words = try await withThrowingTaskGroup(of: String.self) { group in
      for number in 0..<40 {
        group.addTask {
          let claim = try await keys[number % 2].claim(self.name, fingerprint: self.request)
          // The lease is kept, or it would end.
          if case .first(let lease) = claim { await lease.end(with: nil) }
          return self.word(claim)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(words.count { $0 == "first" } == 1, "\(words)")
    #expect(words.allSatisfy { ["first", "running", "unknown"].contains($0) }, "\(words)")
  }

  @Test("a mutation that was not sent gives its key back, and one with an unknown end keeps it", .rule("redis.23"))
  func ends() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(), life: .seconds(300))
    await (try lease(try await keys.claim(name, fingerprint: request))).release()
    #expect(try stand.count(of: "{crb:shop}:i:") == 0)
    await (try lease(try await keys.claim(name, fingerprint: request))).end(with: nil)
    #expect(word(try await keys.claim(name, fingerprint: request)) == "unknown")
  }

  @Test("the end of a mutation whose lease is older than 60 s by the clock of Redis is unknown", .rule("redis.23"))
  func abandoned() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(), life: .seconds(300))
    let lease = try lease(try await keys.claim(name, fingerprint: request))
    func age(_ seconds: Int) throws {
      // The time of the lease is the last 13 bytes of the record.
      _ = try stand.redis.ask(
        "EVAL",
        """
        local key = redis.call('KEYS', '{crb:shop}:i:*')[1]
        local time = redis.call('TIME')[1] - \(seconds)
        redis.call('SET', key, string.sub(redis.call('GET', key), 1, -14) .. string.format('%010d000', time), 'KEEPTTL')
        """, "0")
    }
    try age(30)
    #expect(word(try await keys.claim(name, fingerprint: request)) == "running")
    for seconds in [62, -62] {
      try age(seconds)
      #expect(word(try await keys.claim(name, fingerprint: request)) == "unknown")
    }
    await lease.end(with: [])
    #expect(word(try await keys.claim(name, fingerprint: request)) == "answered ")
  }

  @Test("a silent Redis is an error within the budget, and the key that it took meanwhile is given back", .rule("redis.23"))
  func silent() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(budget: .milliseconds(300)), life: .seconds(300))
    try await stand.redis.stop()
    await #expect(throws: RedisError.self) { _ = try await keys.claim(self.name, fingerprint: self.request) }
    stand.redis.proceed()
    // Another gateway sees the key until it is given back.
    let other = MutationKeys(try await stand.store(), life: .seconds(300))
    #expect(await eventually { self.word(try await other.claim(self.name, fingerprint: self.request)) == "first" })
  }

  @Test(
    "keys that a silent Redis took from many requests at once are given back, also those that the open circuit ended",
    .rule("redis.23"))
  func circuit() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(budget: .milliseconds(300)), life: .seconds(300))
    try await stand.redis.stop()
    let names = (0..<20).map { [UInt8](repeating: 100 + UInt8($0), count: 32) }
    let failures = await withTaskGroup(of: Bool.self) { group in
      for name in names { group.addTask { (try? await keys.claim(name, fingerprint: self.request)) == nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == names.count)
    stand.redis.proceed()
    let other = MutationKeys(try await stand.store(), life: .seconds(300))
    // Redis runs the commands that wait in its socket.
    for name in names {
      #expect(await eventually { self.word(try await other.claim(name, fingerprint: self.request)) == "first" })
    }
    #expect(keys.endings.dropped == 0)
  }

  @Test("an end that Redis does not take at once is written when it is back", .rule("redis.23"))
  func late() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(budget: .milliseconds(300)), life: .seconds(300))
    let patient = MutationKeys(try await stand.store(), life: .seconds(300))
    // A busy machine may exhaust the short budget.
    var claimed: MutationLease?
    for _ in 0..<100 where claimed == nil {
      if case .first(let lease)? = try? await keys.claim(name, fingerprint: request) { claimed = lease }
    }
    let lease = try #require(claimed)
    try await stand.redis.stop()
    await lease.end(with: Array("late".utf8))
    stand.redis.proceed()
    #expect(await eventually { self.word(try await patient.claim(self.name, fingerprint: self.request)) == "answered late" })
  }

  @Test("a record of another program is never taken for an answer")
  func foreign() async throws {
    let stand = try await SharedStand()
    let keys = MutationKeys(try await stand.store(), life: .seconds(300))
    for value in ["''", "'1'", "'2r'", "'1a'", "'1x' .. string.rep('\\2', 32)", "'1r' .. string.rep('\\2', 32) .. 'short'"] {
      _ = try stand.redis.ask("EVAL", "redis.call('SET', '{crb:shop}:i:' .. string.rep('\\1', 32), \(value))", "0")
      #expect(word(try await keys.claim(name, fingerprint: request)) == "unknown", "\(value)")
    }
    _ = try stand.redis.ask(
      "EVAL", "local k = '{crb:shop}:i:' .. string.rep('\\1', 32) redis.call('DEL', k) redis.call('HSET', k, 'a', 'b')", "0")
    await #expect(throws: RedisError.self) { _ = try await keys.claim(self.name, fingerprint: self.request) }
  }

  @Test("a record is read as it was written", .rule("redis.23"))
  func records() {
    let states: [KeyRecord.State] = [
      .running(run: [UInt8](repeating: 9, count: 16), lease: 1_796_000_000_123), .answered([]), .answered([1, 2, 3]), .unknown,
    ]
    for state in states {
      let record = KeyRecord(fingerprint: request, state)
      #expect(KeyRecord(record.bytes[...]) == record)
      for length in 0..<34 { #expect(KeyRecord(record.bytes.prefix(length)) == nil) }
    }
  }

  @Test("a server that removes keys when its memory is full is warned of, and one with noeviction is not", .rule("redis.23"))
  func policy() async throws {
    let (keeping, removing) = (try await SharedStand(), try await SharedStand(["--maxmemory-policy", "allkeys-lru"]))
    let stores = (try await keeping.store(needsMemory: true), try await removing.store(needsMemory: true))
    // The answer to the question is there when a later one is.
    #expect(await eventually { try keeping.redis.ask("CLIENT", "LIST").contains("cmd=info") })
    _ = try await stores.0.exchange([], life: .seconds(60))
    #expect(
      await eventually { removing.log.lines.contains { $0.contains("maxmemory-policy noeviction") } }, "\(removing.log.lines)")
    withExtendedLifetime(stores) {}
    #expect(!keeping.log.lines.contains { $0.contains("maxmemory") }, "\(keeping.log.lines)")
  }

  @Test("the least permissions suffice for counts and keys", .rule("redis.3"))
  func permissions() async throws {
    let stand = try await SharedStand()
    let rules = ["~{crb:shop}*", "&{crb:shop}*", "-@all", "+hello", "+auth", "+client|setname", "+ping", "+time"]
    let commands = ["+get", "+set", "+incrby", "+pexpire", "+unlink"]
    _ = try stand.redis.ask(["ACL", "SETUSER", "node", "on", ">secret"] + rules + commands)
    let store = try await stand.store(needsMemory: true, user: "node", password: "secret")
    let count = SharedCount(name: name, lastName: request, added: 1, addedToLast: 1)
    #expect(try await store.exchange([count], life: .seconds(60)).totals.map(\.last) == [1])
    let keys = MutationKeys(store, life: .seconds(300))
    await (try lease(try await keys.claim(name, fingerprint: request))).release()
    await (try lease(try await keys.claim(name, fingerprint: request))).end(with: [1])
    #expect(word(try await keys.claim(name, fingerprint: request)) == "answered \u{1}")
  }
}
