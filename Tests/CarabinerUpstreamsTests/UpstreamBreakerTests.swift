import CarabinerManifest
import TestTools
import Testing

@testable import CarabinerUpstreams

@Suite("The circuit breaker of an upstream")
struct UpstreamBreakerTests {
  private func breaker(_ change: (inout Manifest.Upstream.Breaker) -> Void = { _ in }) -> UpstreamBreaker {
    var settings = Manifest.Upstream.Breaker()
    change(&settings)
    return UpstreamBreaker(settings)
  }

  @Test("it opens if the share of at least the minimum of requests has failed", .rule("gateway.11"))
  func opens() {
    var breaker = breaker()
    for request in 0..<19 {
      equal(breaker.admit(at: .zero), .normal)
      breaker.ended(.normal, isFailure: request % 2 == 0, at: .zero)
    }
    #expect(!breaker.isOpen)
    breaker.ended(.normal, isFailure: nil, at: .zero)
    #expect(!breaker.isOpen)
    breaker.ended(.normal, isFailure: false, at: .zero)
    #expect(breaker.isOpen)
    equal(breaker.admit(at: .milliseconds(4999)), nil)
  }

  @Test("a smaller share does not open it, and requests before the window do not count", .rule("gateway.11"))
  func window() {
    var breaker = breaker()
    for request in 0..<1000 { breaker.ended(.normal, isFailure: request % 2 == 0 && request % 100 != 0, at: .seconds(1)) }
    #expect(!breaker.isOpen)
    // Eleven seconds later, all that was good is forgotten.
    for _ in 0..<19 { breaker.ended(.normal, isFailure: true, at: .seconds(12)) }
    #expect(!breaker.isOpen)
    breaker.ended(.normal, isFailure: true, at: .seconds(12))
    #expect(breaker.isOpen)
  }

  @Test(
    "after the time open, one request at a time tries; its success closes the breaker, its failure opens it again",
    .rule("gateway.11"))
  func trials() {
    var breaker = breaker { $0.minimum = 1 }
    breaker.ended(.normal, isFailure: true, at: .zero)
    equal(breaker.admit(at: .seconds(5)), .trial)
    equal(breaker.admit(at: .seconds(5)), nil)
    breaker.ended(.trial, isFailure: true, at: .seconds(6))
    equal(breaker.admit(at: .seconds(10)), nil)
    equal(breaker.admit(at: .seconds(11)), .trial)
    // A trial that was cancelled is followed by the next one.
    breaker.ended(.trial, isFailure: nil, at: .seconds(11))
    equal(breaker.admit(at: .seconds(11)), .trial)
    breaker.ended(.trial, isFailure: false, at: .seconds(12))
    #expect(!breaker.isOpen)
    equal(breaker.admit(at: .seconds(12)), .normal)
  }

  @Test("requests that began before it opened do not change an open breaker", .rule("gateway.11"))
  func late() {
    var breaker = breaker { $0.minimum = 2 }
    for _ in 0..<2 { breaker.ended(.normal, isFailure: true, at: .zero) }
    for _ in 0..<9 { breaker.ended(.normal, isFailure: false, at: .seconds(1)) }
    equal(breaker.admit(at: .seconds(4)), nil)
  }
}
