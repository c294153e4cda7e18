import Carabiner
import CarabinerManifest
import TestTools
import Testing

@testable import CarabinerUpstreams

@Suite("The decision to send a request again")
struct RetryRuleTests {
  private static func rule(_ change: (inout Manifest.Upstream.Retry) -> Void = { _ in }) -> RetryRule {
    var settings = Manifest.Upstream.Retry()
    change(&settings)
    return RetryRule(settings: settings)
  }

  @Test("the default causes of a retry, for a query and for a mutation", .rule("gateway.4"))
  func defaults() {
    let rule = Self.rule()
    func causes(_ outcome: AttemptOutcome) -> [RetryRule.Cause?] {
      [true, false].map { rule.cause(of: outcome, isRepeatable: $0, after: 1) }
    }
    #expect(causes(.notConnected) == [.connect, .connect])
    #expect(causes(.reset) == [.reset, nil])
    #expect(causes(.status(502)) == [.badGateway, nil])
    #expect(causes(.status(503)) == [.unavailable, nil])
    #expect(causes(.status(504)) == [.gatewayTimeout, nil])
    for outcome: AttemptOutcome in [
      .attemptTimeout, .failed, .cancelled, .status(200), .status(400), .status(404), .status(429), .status(500), .status(501),
    ] {
      #expect(causes(outcome) == [nil, nil])
    }
  }

  @Test("timeout, 500 and 429 are retried for a query if they are listed, and never for a mutation", .rule("gateway.4"))
  func listed() {
    let rule = Self.rule { $0.causes = [.timeout, .internalError, .tooManyRequests] }
    for (outcome, cause) in [
      (AttemptOutcome.attemptTimeout, RetryRule.Cause.timeout), (.status(500), .internalError), (.status(429), .tooManyRequests),
    ] {
      #expect(rule.cause(of: outcome, isRepeatable: true, after: 1) == cause)
      #expect(rule.cause(of: outcome, isRepeatable: false, after: 1) == nil)
    }
    for outcome: AttemptOutcome in [.notConnected, .reset, .status(503)] {
      #expect(rule.cause(of: outcome, isRepeatable: true, after: 1) == nil)
    }
  }

  @Test("attempts limits the attempts, and 1 switches retries off", .rule("gateway.4"), arguments: [1, 2, 10])
  func attempts(limit: Int) {
    let rule = Self.rule { $0.attempts = limit }
    for attempts in 1...12 {
      #expect((rule.cause(of: .reset, isRepeatable: true, after: attempts) != nil) == (attempts < limit))
    }
  }

  @Test(
    "errors of the transport are connect if nothing was sent, reset if the connection ended, and else no reason",
    .rule("gateway.4"))
  func errors() {
    func outcome(_ code: TransportError.Code, sent: Bool, began: Bool = false) -> AttemptOutcome {
      AttemptOutcome(TransportError(code, "", url: "", mayHaveBeenSent: sent, responseBegan: began))
    }
    for code in [TransportError.Code.nameNotResolved, .cannotConnect, .proxyFailed, .tls, .timedOut, .connectionLost] {
      #expect(outcome(code, sent: false) == .notConnected)
    }
    #expect(outcome(.connectionLost, sent: true) == .reset)
    #expect(outcome(.connectionLost, sent: true, began: true) == .failed)
    for code in [TransportError.Code.timedOut, .invalidResponse, .bodyTooLarge] { #expect(outcome(code, sent: true) == .failed) }
    for code in [TransportError.Code.unsupportedURL, .invalidHeader, .fileUnreadable, .bodyNotRepeatable] {
      #expect(outcome(code, sent: false) == .failed)
    }
    #expect(AttemptOutcome(CancellationError()) == .cancelled)
  }

  @Test("a change of endpoint has no delay", .rule("gateway.6"))
  func change() {
    var numbers = SeededGenerator(seed: 1)
    equal(Self.rule().delay(before: 1, changesEndpoint: true, retryAfter: nil, using: &numbers), .zero)
  }

  @Test(
    "otherwise the delay is random up to base-delay, which doubles up to maximum-delay: 1,000 draws", .rule("gateway.6"),
    arguments: 1...9)
  func delays(retry: Int) {
    var numbers = SeededGenerator(seed: UInt64(retry))
    let longest = min(250.0, 25 * Double(1 << (retry - 1)))
    let draws = (0..<1000).compactMap { _ in
      Self.rule().delay(before: retry, changesEndpoint: false, retryAfter: nil, using: &numbers).map { $0 / .milliseconds(1) }
    }
    #expect(draws.count == 1000)
    #expect(draws.allSatisfy { (0...longest).contains($0) })
    #expect(abs(draws.reduce(0, +) / 1000 - longest / 2) < 0.05 * longest)
    #expect((draws.max() ?? 0) > 0.98 * longest && (draws.min() ?? 1) < 0.02 * longest)
  }

  @Test("Retry-After up to maximum-delay is waited for, and a longer one ends the retries", .rule("gateway.6"))
  func retryAfter() {
    var numbers = SeededGenerator(seed: 1)
    func delay(_ text: String, _ maximum: Duration, changes: Bool = false) -> Duration? {
      Self.rule { $0.maximumDelay = maximum }
        .delay(before: 1, changesEndpoint: changes, retryAfter: text, using: &numbers)
    }
    equal(delay("2", .seconds(2)), .seconds(2))
    equal(delay("2", .milliseconds(1999)), nil)
    equal(delay("3", .seconds(2), changes: true), nil)
    equal(delay("2", .seconds(2), changes: true), .zero)
    equal(delay("0", .seconds(2)), .zero)
    let usual = delay("soon", .milliseconds(250)) ?? .seconds(1)
    #expect(usual <= .milliseconds(25))
  }

  @Test(
    "a date in Retry-After is the time until then, and no time if it has passed", .rule("gateway.6"),
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
  func retryAfterDate(text: String) {
    var numbers = SeededGenerator(seed: 1)
    let date = 784_111_777
    for (now, expected) in [
      (date - 61, nil), (date - 60, .seconds(60)), (date, .zero), (date + 1, .zero), (date + 1_000_000_000, .zero),
    ] as [(Int, Duration?)] {
      equal(
        Self.rule { $0.maximumDelay = .seconds(60) }
          .delay(before: 1, changesEndpoint: false, retryAfter: text, at: now, using: &numbers), expected)
    }
  }

  @Test(
    "a Retry-After that is not a date is ignored", .rule("gateway.6"),
    arguments: [
      "GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
    ])
  func malformedDate(text: String) { equal(HTTPDate.seconds(in: text), nil) }

  @Test(
    "retries under way are at most the larger of minimum-concurrent and the budget's share of the requests", .rule("gateway.7"))
  func budget() {
    let rule = Self.rule()
    for (retries, requests, isAllowed) in [
      (0, 1, true), (2, 1, true), (3, 1, false), (3, 19, false), (3, 20, true), (39, 200, true), (40, 200, false),
    ] {
      #expect(rule.allows(retries: retries, requests: requests) == isAllowed)
    }
    #expect(!Self.rule { $0.minimumConcurrent = 0 }.allows(retries: 0, requests: 4))
  }
}
