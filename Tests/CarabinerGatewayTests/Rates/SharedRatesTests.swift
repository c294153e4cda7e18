import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

/// The rates that gateways count together, with a clock that only the tests advance and counts in place of a server.
@Suite("Rates of several gateways")
struct SharedRatesTests {
  /// The counts of all gateways and their clock.
  private final class Stand: Sendable {
    private let state = Mutex((time: Int64(40_000), counts: [[UInt8]: Int]()))

    func pass(_ milliseconds: Int64) { state.withLock { $0.time += milliseconds } }

    /// A gateway, whose own clock is wrong by some milliseconds.
    func gateway(_ text: String, burst: Int? = nil, error: Int64 = 0, maximumClients: Int = 100) throws -> SharedRates {
      var rate = try #require(RequestRate(text))
      if let burst { rate.burst = burst }
      return SharedRates(rate, maximumClients: maximumClients) { self.state.withLock { $0.time + error } }
    }

    /// The answers of a server to a round.
    func exchange(_ gateway: SharedRates, error: Int64 = 0) {
      guard let round = gateway.beginRound() else { return }
      let totals = answers(round)
      gateway.end(round, totals: totals, offset: -error)
    }

    func answers(_ round: SharedRates.Round) -> [(current: Int, last: Int)] {
      state.withLock { state in
        round.entries.map { entry in
          state.counts[entry.name, default: 0] += entry.added
          state.counts[entry.lastName, default: 0] += entry.addedToLast
          return (state.counts[entry.name, default: 0], state.counts[entry.lastName, default: 0])
        }
      }
    }
  }

  private func passes(_ gateway: SharedRates, _ operations: Int = 1, _ key: String = "a") -> Bool {
    guard gateway.verdict(operations, for: key) == .allowed else { return false }
    gateway.count(operations, for: key)
    return true
  }

  /// How many of some requests pass.
  private func passed(_ count: Int, _ gateway: SharedRates) -> Int { (0..<count).count { _ in passes(gateway) } }

  @Test("a window has 10 s, or the time in which a burst is used up if that is longer", .rule("redis.22"))
  func windows() throws {
    let stand = Stand()
    #expect(try stand.gateway("100/s").window == 10_000)
    #expect(try stand.gateway("10/s", burst: 1000).window == 100_000)
    #expect(try stand.gateway("60/m").window == 60_000)
    #expect(try stand.gateway("3600/h", burst: 1).window == 10_000)
  }

  @Test(
    "counts of another gateway lead to refusals after the next round, and the wait is that of the windows", .rule("redis.22"))
  func counted() throws {
    let stand = Stand()
    let (one, other) = (try stand.gateway("10/s"), try stand.gateway("10/s", error: 3_600_000))
    for gateway in [one, other] { stand.exchange(gateway, error: gateway === other ? 3_600_000 : 0) }
    #expect(passed(80, one) == 80)
    #expect(passed(40, other) == 40)
    // Each knows its own counts only, until a round asks for a client that it has seen again.
    stand.exchange(one)
    stand.exchange(other, error: 3_600_000)
    #expect(passes(one))
    stand.exchange(one)
    #expect(!passes(one))
    // 121 of 100 in the window that begins at 40 s: 22 of 121 parts of the next one must be over.
    #expect(one.verdict(1, for: "a") == .refused(.milliseconds(10_000 + 1819)))
    stand.pass(10_000 + 1818)
    #expect(!passes(one))
    stand.pass(1)
    #expect(passes(one))
  }

  @Test("the last window counts as far as it overlaps, so no burst passes at the border of windows", .rule("redis.22"))
  func border() throws {
    let stand = Stand()
    let gateway = try stand.gateway("10/s")
    stand.exchange(gateway)
    stand.pass(9999)
    #expect(passed(200, gateway) == 100)
    stand.exchange(gateway)
    stand.pass(1)
    #expect(passed(200, gateway) == 0)
    stand.pass(5000)
    #expect(passed(200, gateway) == 50)
    stand.pass(5000)
    stand.exchange(gateway)
    stand.pass(10_000)
    #expect(passed(200, gateway) == 100)
  }

  @Test(
    "four gateways and a client with eight times the rate: at most a tenth passes beyond it in each window", .rule("redis.22"))
  func storm() throws {
    let stand = Stand()
    let gateways = try (0..<4).map { _ in try stand.gateway("100/s") }
    for gateway in gateways { stand.exchange(gateway) }
    var windows: [Int] = []
    for step in 0..<4000 {
      if step % 1000 == 0 { windows.append(0) }
      // Each 10 ms, two requests at each gateway. Rounds are each 100 ms, at other times on each gateway.
      for (number, gateway) in gateways.enumerated() {
        windows[windows.count - 1] += passed(2, gateway)
        if step % 10 == number { stand.exchange(gateway) }
      }
      stand.pass(10)
    }
    #expect(windows.allSatisfy { (700...1100).contains($0) }, "\(windows)")
    #expect(windows.reduce(0, +) <= 4400, "\(windows)")
  }

  @Test("while rounds fail nothing is refused, and counts that were not sent are sent later", .rule("redis.22"))
  func away() throws {
    let stand = Stand()
    let gateway = try stand.gateway("1/s")
    // Before the first round, too.
    #expect(passed(100, gateway) == 100)
    stand.exchange(gateway)
    #expect(passed(100, gateway) == 10)
    let round = try #require(gateway.beginRound())
    gateway.fail(round, wasSent: false)
    #expect(passed(5, gateway) == 5)
    let next = try #require(gateway.beginRound())
    #expect(next.entries.map(\.added) == [15])
    // The server may have counted them, so they are not sent again.
    gateway.fail(next, wasSent: true)
    let last = try #require(gateway.beginRound())
    #expect(last.entries.map(\.added) == [0])
    gateway.end(last, totals: [(15, 0)], offset: 0)
    #expect(passed(5, gateway) == 0)
    gateway.pause()
    #expect(passed(5, gateway) == 5)
  }

  @Test("counts of a window that ends before its round are added to that window", .rule("redis.22"))
  func late() throws {
    let stand = Stand()
    let gateway = try stand.gateway("10/s")
    stand.exchange(gateway)
    #expect(passed(70, gateway) == 70)
    let before = try #require(gateway.beginRound())
    gateway.end(before, totals: stand.answers(before), offset: 0)
    #expect(passed(20, gateway) == 20)
    stand.pass(10_000)
    #expect(passed(5, gateway) == 5)
    let round = try #require(gateway.beginRound())
    #expect(round.entries.map(\.added) == [5] && round.entries.map(\.addedToLast) == [20])
    #expect(round.entries[0].lastName == before.entries[0].name)
    #expect(stand.answers(round).map(\.last) == [90])
  }

  @Test("a clock of the server that is set back does not keep clients out", .rule("redis.22"))
  func setBack() throws {
    let stand = Stand()
    let gateway = try stand.gateway("1/s")
    let hour: Int64 = 3_600_000
    let first = try #require(gateway.beginRound())
    gateway.end(first, totals: [], offset: hour)
    #expect(passed(20, gateway) == 10)
    let ahead = try #require(gateway.beginRound())
    gateway.end(ahead, totals: stand.answers(ahead), offset: hour)
    #expect(passed(20, gateway) == 0)
    let back = try #require(gateway.beginRound())
    gateway.end(back, totals: stand.answers(back), offset: 0)
    #expect(passed(20, gateway) == 10)
  }

  @Test("an operation that is more than a window may have can begin behind empty windows only", .rule("redis.22"))
  func large() throws {
    let stand = Stand()
    let gateway = try stand.gateway("1/s")
    stand.exchange(gateway)
    #expect(passes(gateway, 50))
    #expect(!passes(gateway, 50))
    stand.pass(20_000)
    #expect(passes(gateway, 50))
  }

  @Test("no more clients are counted than the maximum, and those of earlier windows are forgotten", .rule("redis.22"))
  func bounded() throws {
    let stand = Stand()
    let gateway = try stand.gateway("1/s", maximumClients: 50)
    stand.exchange(gateway)
    for client in 0..<1000 { #expect(passes(gateway, 1, "\(client)")) }
    #expect(gateway.clientCount == 50)
    // The server is away for hours.
    for _ in 0..<1000 {
      stand.pass(10_000)
      for client in 0..<100 { _ = passes(gateway, 1, "later \(client)") }
    }
    #expect(gateway.clientCount == 50)
    let round = try #require(gateway.beginRound())
    #expect(round.entries.count <= 50)
    #expect(gateway.beginRound()?.entries.isEmpty ?? true)
  }

  @Test("a round has no more clients than the maximum; the others follow", .rule("redis.22"))
  func divided() throws {
    let stand = Stand()
    let gateway = try stand.gateway("1/s", maximumClients: 20_000)
    stand.exchange(gateway)
    for client in 0..<12_000 { _ = passes(gateway, 1, "\(client)") }
    var sizes: [Int] = []
    while let round = gateway.beginRound(), !round.entries.isEmpty {
      sizes.append(round.entries.count)
      gateway.end(round, totals: stand.answers(round), offset: 0)
    }
    #expect(sizes == [5000, 5000, 2000])
  }
}
