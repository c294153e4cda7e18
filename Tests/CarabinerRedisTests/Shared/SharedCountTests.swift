import CarabinerRESP
import CarabinerRedis
import TestTools
import Testing

/// Counts that gateways keep together, in a real redis-server.
@Suite("Counts in Redis")
struct SharedCountTests {
  private func count(_ number: UInt8, _ added: Int, last: Int = 0) -> SharedCount {
    SharedCount(
      name: [UInt8](repeating: number, count: 16), lastName: [UInt8](repeating: number + 100, count: 16), added: added,
      addedToLast: last)
  }

  @Test("gateways add to the same counts and read them, and each key has a life", .rule("redis.22"))
  func together() async throws {
    let stand = try await SharedStand()
    let (one, other) = (try await stand.store(), try await stand.store())
    let first = try await one.exchange([count(1, 5), count(2, 7, last: 3)], life: .seconds(60))
    #expect(first.totals.map(\.current) == [5, 7] && first.totals.map(\.last) == [0, 3])
    let second = try await other.exchange([count(1, 2), count(2, 0), count(3, 0)], life: .seconds(60))
    #expect(second.totals.map(\.current) == [7, 7, 0] && second.totals.map(\.last) == [0, 3, 0])
    #expect(try stand.count(of: "{crb:shop}:l:") == 3)
    let lives = try stand.redis.ask(
      "EVAL",
      "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) > 0 then n = n + 1 end end return n",
      "0")
    #expect(lives == "3")
    // The clock of the server, as both see it.
    #expect(abs(first.offset - second.offset) < 30_000)
  }

  @Test("5,000 clients are one round", .rule("redis.22"))
  func large() async throws {
    let stand = try await SharedStand()
    let store = try await stand.store()
    let counts = (0..<5000).map { number in
      let name = (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }
      return SharedCount(name: name, lastName: name.map { ~$0 }, added: number + 1, addedToLast: 1)
    }
    let answer = try await store.exchange(counts, life: .seconds(60))
    #expect(answer.totals.map(\.current) == Array(1...5000))
    #expect(answer.totals.allSatisfy { $0.last == 1 })
  }

  @Test("a count that another program has written is none, and the others are read")
  func foreign() async throws {
    let stand = try await SharedStand()
    let store = try await stand.store()
    for value in ["'no'", "'-5'", "'99999999999999999999'"] {
      _ = try stand.redis.ask("EVAL", "redis.call('SET', '{crb:shop}:l:' .. string.rep('\\7', 16), \(value))", "0")
      for added in [0, 1] {
        let answer = try await store.exchange([count(7, added), count(8, 2), count(8, 0)], life: .seconds(60))
        #expect(
          answer.totals[0].current <= 1 && answer.totals[1].current == answer.totals[2].current, "\(value) \(answer.totals)")
        #expect(answer.totals[1].current > 0)
      }
    }
    _ = try stand.redis.ask("EVAL", "redis.call('SET', '{crb:shop}:l:' .. string.rep('\\7', 16), '9223372036854775807')", "0")
    let answer = try await store.exchange([count(7, 0)], life: .seconds(60))
    #expect(answer.totals[0].current == 1 << 40)
  }

  @Test("without a connection a round fails at once, and nothing was sent", .rule("redis.22"))
  func away() async throws {
    let stand = try await SharedStand()
    let store = try await stand.store()
    stand.redis.end()
    #expect(await eventually { !store.isAvailable })
    let error = await #expect(throws: RedisError.self) {
      _ = try await store.exchange([self.count(1, 1)], life: .seconds(60))
    }
    #expect(error?.code == .unavailable)
  }
}
