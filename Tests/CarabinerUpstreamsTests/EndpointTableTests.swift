import CarabinerManifest
import TestTools
import Testing

@testable import CarabinerUpstreams

@Suite("The choice of an endpoint")
struct EndpointTableTests {
  static func upstream(_ count: Int, _ change: (inout Manifest.Upstream) -> Void = { _ in }) -> Manifest.Upstream {
    var upstream = Manifest.Upstream(
      name: "main", endpoints: (0..<count).map { Manifest.Upstream.Endpoint(url: "http://\($0)/") })
    change(&upstream)
    return upstream
  }

  static func servers(_ weights: [Int], backups: Set<Int> = []) -> [EndpointServer] {
    weights.enumerated().map {
      EndpointServer(entry: $0, weight: $1, isBackup: backups.contains($0), url: "http://\($0)/")
    }
  }

  /// The requests that each entry gets, one after the other.
  private func counts(
    _ table: inout EndpointTable, _ requests: Int, at now: Duration = .zero, key: (Int) -> UInt64? = { _ in nil }
  ) -> [Int: Int] {
    var numbers = SeededGenerator(seed: 1)
    var counts: [Int: Int] = [:]
    for request in 0..<requests {
      guard let choice = table.choose(key: key(request), at: now, using: &numbers) else { continue }
      counts[choice.server.entry, default: 0] += 1
      table.left(choice.number)
    }
    return counts
  }

  @Test(
    "the counts of 10,000 requests follow the weights within 5 %, whichever the balance", .rule("gateway.1", "gateway.3"),
    arguments: [Manifest.Upstream.Balance.leastRequests, .roundRobin, .random, .hash])
  func weights(balance: Manifest.Upstream.Balance) {
    var table = EndpointTable(Self.upstream(3) { $0.balance = balance }, Self.servers([1, 2, 7]))
    let counts = counts(&table, 10_000) { StableHash.of("client \($0)") }
    for (entry, share) in [(0, 0.1), (1, 0.2), (2, 0.7)] {
      #expect(abs(Double(counts[entry] ?? 0) / 10_000 - share) < 0.05 * 0.7)
    }
  }

  @Test("round-robin gives each endpoint exactly its weight in one round, and spreads it out", .rule("gateway.3"))
  func roundRobin() {
    var table = EndpointTable(Self.upstream(3) { $0.balance = .roundRobin }, Self.servers([1, 3, 6]))
    equal(counts(&table, 10), [0: 1, 1: 3, 2: 6])
    equal(counts(&table, 100), [0: 10, 1: 30, 2: 60])
  }

  @Test(
    "with least-requests, an endpoint that is ten times slower gets less than 20 % of the requests of two", .rule("gateway.3"))
  func slowEndpoint() {
    var table = EndpointTable(Self.upstream(2), Self.servers([1, 1]))
    var numbers = SeededGenerator(seed: 3)
    var counts = [0, 0]
    // Ten clients; each sends its next request when it has the response of the last one.
    var running: [(end: Int, number: Int)] = []
    for time in 0..<10_000 {
      for done in running where done.end <= time { table.left(done.number) }
      running.removeAll { $0.end <= time }
      while running.count < 10, let choice = table.choose(at: .zero, using: &numbers) {
        counts[choice.server.entry] += 1
        running.append((time + (choice.server.entry == 0 ? 10 : 100), choice.number))
      }
    }
    #expect(counts[1] > 0)
    #expect(Double(counts[1]) < 0.2 * Double(counts[0] + counts[1]), "\(counts)")
  }

  @Test("with hash, stopping one of four endpoints moves only its own keys", .rule("gateway.3"))
  func hash() {
    let upstream = Self.upstream(4) { $0.balance = .hash }
    var all = EndpointTable(upstream, Self.servers([1, 1, 2, 1]))
    var three = EndpointTable(upstream, Self.servers([1, 1, 2, 1]).filter { $0.entry != 2 })
    var numbers = SeededGenerator(seed: 5)
    var moved = 0
    for client in 0..<2000 {
      let key = StableHash.of("client-\(client)")
      let before = all.choose(key: key, at: .zero, using: &numbers)?.server.entry
      let after = three.choose(key: key, at: .zero, using: &numbers)?.server.entry
      if before == 2 { moved += 1 } else { #expect(before == after) }
    }
    #expect((600...1000).contains(moved))
  }

  @Test("with hash, a request without a value gets any endpoint", .rule("gateway.3"))
  func hashWithoutValue() {
    var table = EndpointTable(Self.upstream(2) { $0.balance = .hash }, Self.servers([1, 1]))
    let counts = counts(&table, 1000)
    #expect((400...600).contains(counts[0] ?? 0))
  }

  @Test("a backup gets requests only when no other endpoint is available", .rule("gateway.3"))
  func backups() throws {
    let upstream = Self.upstream(3) { $0.health = Manifest.Upstream.HealthCheck(request: .path("/")) }
    var table = EndpointTable(upstream, Self.servers([1, 1, 1], backups: [2]))
    equal(counts(&table, 100)[2], nil)
    let numbers = table.servers.map(\.number)
    for _ in 0..<3 { table.noteCheck(false, of: numbers[0], at: .zero) }
    equal(counts(&table, 100), [1: 100])
    for _ in 0..<3 { table.noteCheck(false, of: numbers[1], at: .zero) }
    equal(counts(&table, 100), [2: 100])
    #expect(!table.isPanicking)
    for _ in 0..<2 { table.noteCheck(true, of: numbers[0], at: .zero) }
    equal(counts(&table, 100), [0: 100])
  }

  @Test("an endpoint is not tried twice while another available one is untried", .rule("gateway.6"))
  func untried() throws {
    var table = EndpointTable(Self.upstream(3), Self.servers([1, 1, 1]))
    var numbers = SeededGenerator(seed: 7)
    for _ in 0..<1000 {
      var tried: [Int] = []
      for _ in 0..<3 {
        let found = table.choose(tried: tried, at: .zero, using: &numbers)
        let choice = try #require(found)
        #expect(!choice.isRepeated)
        #expect(!tried.contains(choice.number))
        tried.append(choice.number)
      }
      let repeated = table.choose(tried: tried, at: .zero, using: &numbers)
      #expect(repeated?.isRepeated == true)
    }
  }

  @Test(
    "a retry goes to an available backup when the other endpoints have been tried, and to no unavailable one", .rule("gateway.6"))
  func untriedBackup() throws {
    let upstream = Self.upstream(4) { $0.health = Manifest.Upstream.HealthCheck(request: .path("/")) }
    var table = EndpointTable(upstream, Self.servers([1, 1, 1, 1], backups: [2, 3]))
    var numbers = SeededGenerator(seed: 7)
    let all = table.servers.map(\.number)
    for _ in 0..<3 { table.noteCheck(false, of: all[3], at: .zero) }
    var tried: [Int] = []
    for _ in 0..<3 {
      let found = table.choose(tried: tried, at: .zero, using: &numbers)
      let choice = try #require(found)
      #expect(!choice.isRepeated)
      tried.append(choice.number)
    }
    #expect(Set(tried.prefix(2)) == Set(all.prefix(2)))
    #expect(tried.last == all[2])
    let repeated = table.choose(tried: tried, at: .zero, using: &numbers)
    #expect(repeated?.isRepeated == true && repeated.map { all.prefix(2).contains($0.number) } == true)
  }

  @Test("of two endpoints, one failed by checks: only the other is used; both failed: both are tried", .rule("gateway.8"))
  func panic() {
    let upstream = Self.upstream(2) { $0.health = Manifest.Upstream.HealthCheck(request: .path("/")) }
    var table = EndpointTable(upstream, Self.servers([1, 1]))
    let numbers = table.servers.map(\.number)
    for _ in 0..<3 { table.noteCheck(false, of: numbers[0], at: .zero) }
    equal(counts(&table, 100), [1: 100])
    #expect(!table.isPanicking)
    for _ in 0..<3 { table.noteCheck(false, of: numbers[1], at: .zero) }
    equal(counts(&table, 100).count, 2)
    #expect(table.isPanicking)
  }

  @Test("with panic 0 %, no endpoint is chosen if none is available", .rule("gateway.8"))
  func noPanic() {
    let upstream = Self.upstream(2) {
      $0.health = Manifest.Upstream.HealthCheck(request: .path("/"))
      $0.panicShare = 0
    }
    var table = EndpointTable(upstream, Self.servers([1, 1]))
    for number in table.servers.map(\.number) { for _ in 0..<3 { table.noteCheck(false, of: number, at: .zero) } }
    equal(counts(&table, 10), [:])
    #expect(!table.isPanicking)
  }

  @Test("an endpoint is healthy until its first fall failures, and again after rise successes", .rule("gateway.9"))
  func checks() {
    var health = EndpointHealth()
    let settings = Manifest.Upstream.HealthCheck(request: .path("/"))
    let results = [false, false, true, false, false, false, true, false, true, true]
    let healthy = results.map { result in
      _ = health.note(result, settings)
      return health.isHealthy
    }
    #expect(healthy == [true, true, true, true, true, false, false, false, false, true])
  }

  @Test("the records of servers that stay are kept when others come and go", .rule("gateway.2"))
  func replacement() throws {
    var table = EndpointTable(Self.upstream(2), Self.servers([1, 1]))
    var numbers = SeededGenerator(seed: 1)
    let found = table.choose(at: .zero, using: &numbers)
    let choice = try #require(found)
    let other = EndpointServer(entry: 1, weight: 1, isBackup: false, url: "http://1/", address: "127.0.0.2")
    table.replace(with: [Self.servers([1, 1])[choice.server.entry], other], at: .zero)
    #expect(table.availability(at: .zero).map(\.underWay) == [1, 0])
    table.replace(with: [other], at: .zero)
    // The endpoint of the request is gone.
    table.left(choice.number)
    #expect(table.availability(at: .zero).map(\.underWay) == [0])
    equal(counts(&table, 10), [1: 10])
  }
}
