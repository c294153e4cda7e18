import CarabinerManifest
import TestTools
import Testing

@testable import CarabinerUpstreams

@Suite("The ejection of endpoints")
struct EndpointEjectionTests {
  private let failures: [AttemptOutcome] = [
    .notConnected, .reset, .attemptTimeout, .status(502), .status(503), .status(504),
  ]

  private func table(_ count: Int, _ change: (inout Manifest.Upstream) -> Void = { _ in }) -> EndpointTable {
    EndpointTable(
      EndpointTableTests.upstream(count, change), EndpointTableTests.servers(Array(repeating: 1, count: count)))
  }

  private func ejected(_ table: EndpointTable, at now: Duration) -> [Bool] { table.availability(at: now).map(\.isEjected) }

  @Test("five failures in a row of any kind eject an endpoint, and any other answer sets the count to 0", .rule("gateway.10"))
  func count() {
    var table = table(2)
    let first = table.servers[0].number
    for outcome in failures.prefix(4) { equal(table.note(outcome, of: first, at: .zero), false) }
    // One bad resolver must not remove a server.
    equal(table.note(.status(500), of: first, at: .zero), false)
    for outcome in failures.suffix(4) { equal(table.note(outcome, of: first, at: .zero), false) }
    equal(table.note(.cancelled, of: first, at: .zero), false)
    equal(table.note(.failed, of: first, at: .zero), false)
    equal(table.note(.notConnected, of: first, at: .zero), true)
    #expect(ejected(table, at: .zero) == [true, false])
  }

  @Test("of three endpoints, two dead, exactly one is ejected with 50 %", .rule("gateway.10"))
  func limit() {
    var table = table(3)
    let numbers = table.servers.map(\.number)
    for _ in 0..<20 {
      _ = table.note(.notConnected, of: numbers[0], at: .zero)
      _ = table.note(.notConnected, of: numbers[1], at: .zero)
    }
    #expect(ejected(table, at: .zero) == [true, false, false])
  }

  @Test("at least one may be ejected, but never the last available endpoint", .rule("gateway.10"))
  func last() {
    var small = table(2) { $0.outliers?.maximumEjected = 0 }
    for _ in 0..<5 { _ = small.note(.reset, of: small.servers[0].number, at: .zero) }
    #expect(ejected(small, at: .zero) == [true, false])

    var all = table(3) { $0.outliers?.maximumEjected = 1 }
    for (number, _) in all.servers { for _ in 0..<9 { _ = all.note(.reset, of: number, at: .zero) } }
    #expect(ejected(all, at: .zero) == [true, true, false])

    var single = table(1) { $0.outliers = Manifest.Upstream.Outliers() }
    for _ in 0..<50 { equal(single.note(.reset, of: single.servers[0].number, at: .zero), false) }
  }

  @Test("an endpoint that is the last one by its checks is not ejected either", .rule("gateway.10"))
  func lastHealthy() {
    var table = table(2) { $0.health = Manifest.Upstream.HealthCheck(request: .path("/")) }
    for _ in 0..<3 { table.noteCheck(false, of: table.servers[0].number, at: .zero) }
    for _ in 0..<9 { equal(table.note(.reset, of: table.servers[1].number, at: .zero), false) }
  }

  @Test("the time of an ejection is multiplied by the ejections in a row, up to its maximum", .rule("gateway.10"))
  func time() {
    var ejection = EndpointEjection()
    let settings = Manifest.Upstream.Outliers()
    var now = Duration.zero
    for seconds in [30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300] {
      ejection.eject(at: now, settings)
      #expect(ejection.isEjected(at: now + .seconds(seconds) - .milliseconds(1)))
      now += .seconds(seconds)
      #expect(!ejection.isEjected(at: now))
    }
    equal(ejection.note(.status(200), at: now, settings), false)
    ejection.eject(at: now, settings)
    #expect(!ejection.isEjected(at: now + .seconds(30)))
  }

  @Test(
    "an ejected endpoint gets requests again when its time is over, and needs all failures for the next ejection",
    .rule("gateway.10"))
  func comesBack() {
    var table = table(2) { $0.balance = .random }
    let first = table.servers[0].number
    for _ in 0..<5 { _ = table.note(.reset, of: first, at: .zero) }
    var numbers = SeededGenerator(seed: 1)
    for _ in 0..<100 { equal(table.choose(at: .seconds(29), using: &numbers)?.server.entry, 1) }
    // Requests that began before the ejection end while it lasts.
    equal(table.note(.status(200), of: first, at: .seconds(5)), false)
    var entries: Set<Int?> = []
    for _ in 0..<100 { entries.insert(table.choose(at: .seconds(30), using: &numbers)?.server.entry) }
    #expect(entries == [0, 1])
    for _ in 0..<4 { equal(table.note(.reset, of: first, at: .seconds(31)), false) }
    equal(table.note(.reset, of: first, at: .seconds(31)), true)
    #expect(ejected(table, at: .seconds(90)) == [true, false])
    #expect(ejected(table, at: .seconds(91)) == [false, false])
  }
}
