import Carabiner
import CarabinerWire
import CommandTools
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import CarabinerGateway

/// The request rate limit per client.
@Suite("carabiner serve: rate limit")
struct RateLimitTests {
  /// A limiter with a clock that only the test advances.
  private final class Stand: Sendable {
    private let time = Mutex<UInt64>(1_000_000_000_000)
    let rate: RequestRate
    let capacity: Int

    init(_ text: String, burst: Int? = nil, capacity: Int = RateLimiter.rememberedClients) throws {
      var rate = try #require(RequestRate(text))
      if let burst { rate.burst = burst }
      self.rate = rate
      self.capacity = capacity
    }

    func limiter() -> RateLimiter { RateLimiter(rate, capacity: capacity) { self.time.withLock(\.self) } }

    func pass(_ duration: Duration) {
      time.withLock {
        $0 += UInt64(duration.components.seconds) * 1_000_000_000 + UInt64(duration.components.attoseconds / 1_000_000_000)
      }
    }
  }

  @Test("a burst is allowed, then requests at the rate, and the reported wait is exact")
  func bucket() throws {
    let stand = try Stand("10/s", burst: 3)
    let limiter = stand.limiter()
    for _ in 0..<3 { #expect(limiter.take(1, from: "a") == .allowed) }
    #expect(limiter.take(1, from: "a") == .refused(.milliseconds(100)))
    #expect(limiter.take(1, from: "b") == .allowed)
    stand.pass(.milliseconds(40))
    #expect(limiter.take(1, from: "a") == .refused(.milliseconds(60)))
    stand.pass(.milliseconds(60))
    #expect(limiter.take(1, from: "a") == .allowed)
    #expect(limiter.take(1, from: "a") == .refused(.milliseconds(100)))
    stand.pass(.seconds(3600))
    for _ in 0..<3 { #expect(limiter.take(1, from: "a") == .allowed) }
    #expect(limiter.take(1, from: "a") == .refused(.milliseconds(100)))
  }

  @Test(
    "a client that waits for the reported time is allowed, and a moment earlier it is refused",
    arguments: ["7/s", "600/m", "3/h", "1000000/s"])
  func exactness(_ text: String) throws {
    let stand = try Stand(text, burst: 2)
    let limiter = stand.limiter()
    for _ in 0..<50 {
      while limiter.take(1, from: "a") == .allowed {}
      guard case .refused(let time) = limiter.take(1, from: "a") else { return #expect(Bool(false), "allowed") }
      stand.pass(time - .nanoseconds(1))
      #expect(limiter.take(1, from: "a") == .refused(.nanoseconds(1)))
      stand.pass(.nanoseconds(1))
      #expect(limiter.take(1, from: "a") == .allowed)
    }
  }

  @Test("a list costs as much as its operations, and one longer than a bucket empties a full one for longer")
  func lists() throws {
    let stand = try Stand("1/s", burst: 5)
    let limiter = stand.limiter()
    #expect(limiter.take(3, from: "a") == .allowed)
    #expect(limiter.take(3, from: "a") == .refused(.seconds(1)))
    #expect(limiter.take(2, from: "a") == .allowed)
    stand.pass(.seconds(5))
    #expect(limiter.take(8, from: "a") == .allowed)
    #expect(limiter.take(1, from: "a") == .refused(.seconds(4)))
  }

  @Test("the table has a fixed size, and the clients with the latest requests are remembered")
  func eviction() throws {
    let stand = try Stand("1/h", capacity: 100)
    let limiter = stand.limiter()
    #expect(limiter.take(1, from: "regular") == .allowed)
    for stranger in 0..<10_000 {
      #expect(limiter.take(1, from: "stranger \(stranger)") == .allowed)
      #expect(limiter.clientCount <= 200)
      if stranger == 99 { #expect(limiter.take(1, from: "regular") != .allowed) }
    }
    #expect(limiter.take(1, from: "stranger 9999") != .allowed)
    #expect(limiter.take(1, from: "stranger 9900") != .allowed)
    #expect(limiter.take(1, from: "stranger 1") == .allowed)
  }

  @Test(
    "addresses of one IPv6 network are one client",
    arguments: [
      ("1.2.3.4", "1.2.3.4", true), ("1.2.3.4", "1.2.3.5", false), ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
      ("2001:db8:1:2::1", "2001:db8:1:3::1", false), ("::ffff:1.2.3.4", "::ffff:1.2.3.5", false),
      ("::ffff:1.2.3.4", "1.2.3.4", true),
      ("local", "local", true),
    ])
  func networks(_ one: String, _ other: String, _ isSame: Bool) {
    #expect((RateLimiter.network(of: one) == RateLimiter.network(of: other)) == isSame)
  }

  @Test("clients are distinguished by a header field, or by address without it")
  func keys() throws {
    func key(_ headers: HTTPHeaders, _ client: String = "1.2.3.4") throws -> String {
      try RateLimiter.key(headers, client, field: "X-User")
    }
    #expect(try key(["x-user": "a"]) == key(["X-User": "a"], "5.6.7.8"))
    #expect(try key(["x-user": "a"]) != key(["x-user": "b"]))
    #expect(try key([:]) == "1.2.3.4")
    // A client cannot reach another client's bucket by sending an address as its name.
    #expect(try key(["x-user": "1.2.3.4"]) != key([:]))
  }

  @Test(
    "valid and invalid rates",
    arguments: [("100/s", true), ("1/h", true), ("60/m", true)]
      + ["0/s", "/s", "1", "1/d", "-1/s", "1/s/s", "+1/s", "1 /s", "2000000/s", ""].map { ($0, false) })
  func rates(_ text: String, _ isRate: Bool) {
    #expect((RequestRate(text) != nil) == isRate)
    if isRate { #expect(RequestRate(text)?.description == text) }
  }

  @Test("a client over its rate receives 429 with Retry-After, and is counted")
  func gateway() async throws {
    let upstream = try DemoServerProcess()
    let folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint, ["--rate", "2/h", "--rate-key", "X-User", "--maximum-batch", "5"])
    for _ in 0..<2 { #expect(try gateway.query("{ __typename }", headers: ["X-User: a"]).status == 200) }
    let refused = try gateway.query("{ __typename }", headers: ["X-User: a"])
    #expect(refused.status == 429)
    let after = refused.head.first { $0.hasPrefix("Retry-After: ") }.flatMap { Int($0.dropFirst("Retry-After: ".count)) }
    // One token is added every 1800 seconds, and some seconds may have passed.
    #expect((1700...1800).contains(after ?? 0))
    #expect(try JSONValue(parsing: refused.text)["errors"]?[0]?["extensions"]?["code"] == "RATE_LIMITED")
    #expect(try gateway.query("{ __typename }", headers: ["X-User: b"]).status == 200)
    let list = "[" + Array(repeating: #"{"query":"{ __typename }"}"#, count: 2).joined(separator: ",") + "]"
    #expect(try RawAnswer(gateway.endpoint, body: list, headers: ["X-User: b"]).status == 429)
    #expect(try RawAnswer(gateway.endpoint, body: list, headers: ["X-User: c"]).status == 200)
    let repeated = try gateway.query("{ __typename }", headers: ["X-User: d", "X-User: a"])
    #expect(repeated.status == 400 && repeated.text.contains("CLIENT_KEY_REPEATED"), "\(repeated.text)")
    #expect(try RawAnswer("\(gateway.origin)/healthz", headers: ["X-User: a"]).status == 200)
    let scraped = try await ScrapedMetrics(gateway)
    #expect(scraped["carabiner_requests_rate_limited_total{}"] == 2)
    for wrong in [
      ["--rate", "fast"], ["--rate-burst", "3"], ["--rate", "1/s", "--rate-burst", "0"], ["--rate", "1/s", "--rate-key", "a b"],
    ] {
      #expect(
        try await CommandRun(["serve", "-m", folder.file("chain.yaml"), "--endpoint", "http://127.0.0.1:9/"] + wrong).status == 2)
    }
  }
}
