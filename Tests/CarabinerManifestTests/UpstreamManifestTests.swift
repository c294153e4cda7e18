import Carabiner
import CarabinerABI
import CarabinerManifest
import TestTools
import Testing

@Suite("Upstreams of a manifest")
struct UpstreamManifestTests {
  @Test(
    "an upstream with endpoints alone has the documented defaults", .rule("gateway.4", "gateway.8", "gateway.10", "gateway.11"))
  func defaults() throws {
    let manifest = try ManifestFixtures.manifest("{carabiner: 1, upstreams: {main: {endpoints: ['http://a/', 'http://b/']}}}")
    let upstream = try #require(manifest.upstreams.first)
    #expect(upstream.balance == .leastRequests)
    #expect(upstream.resolveInterval == .seconds(10))
    #expect(upstream.retry.attempts == 2)
    #expect(upstream.retry.causes == [.connect, .reset, .badGateway, .unavailable, .gatewayTimeout])
    #expect(upstream.retry.attemptTimeout == nil)
    #expect(upstream.retry.baseDelay == .milliseconds(25))
    #expect(upstream.retry.maximumDelay == .milliseconds(250))
    #expect(upstream.retry.budget == 0.2)
    #expect(upstream.retry.minimumConcurrent == 3)
    #expect(upstream.panicShare == 0.5)
    #expect(upstream.health == nil)
    #expect(upstream.outliers == Manifest.Upstream.Outliers())
    #expect(upstream.limits.requests == 1024)
    #expect(upstream.limits.waiting == 1024)
    #expect(upstream.limits.connections == nil)
    #expect(upstream.breaker == nil)
  }

  @Test("ejection is off for one endpoint, and with none", .rule("gateway.10"))
  func outliers() throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      upstreams:
        one: {endpoints: ["http://a/"]}
        chosen: {endpoints: ["http://a/"], outliers: {failures: 2}}
        off: {endpoints: ["http://a/", "http://b/"], outliers: none}
      """)
    #expect(manifest.upstreams.map { $0.outliers?.failures } == [nil, 2, nil])
  }

  @Test("of each setting, the first rule that matches and names it wins", .rule("gateway.12"))
  func settings() throws {
    let manifest = try ManifestFixtures.manifest(
      """
      carabiner: 1
      upstreams: {reports: {endpoints: ["http://a/"]}, open: {endpoints: ["http://b/"]}}
      rules:
        - {when: {operation: "Report*"}, timeout: 30s}
        - {when: {type: query, path: /public}, upstream: open}
        - {when: {operation: "Report*", type: query}, timeout: 1s, upstream: reports}
        - {when: {path: [/public, /other]}, chain: {graphql: []}}
      """)
    let rules = manifest.ruleIndex
    #expect(rules.settings("ReportA", .query) == (.seconds(30), "reports"))
    #expect(rules.settings("ReportA", .mutation) == (.seconds(30), nil))
    #expect(rules.settings("ReportA", .query, path: "/public") == (.seconds(30), "open"))
    #expect(rules.settings("Other", .query, path: "/public") == (nil, "open"))
    #expect(rules.settings("Other", .query, path: "/graphql") == (nil, nil))
    #expect(rules.choice("Other", .query, path: "/other")[.graphQL] == 3)
    #expect(rules.choice("Other", .query)[.graphQL] == nil)
    #expect(rules.hasPaths && rules.hasSettings)
  }

  @Test("a changed, a new and a removed upstream are lines of a reload's difference", .rule("convention.1"))
  func difference() throws {
    let old = try ManifestFixtures.manifest(
      "{carabiner: 1, upstreams: {a: {endpoints: ['http://a/']}, b: {endpoints: ['http://b/']}}}")
    let new = try ManifestFixtures.manifest(
      "{carabiner: 1, upstreams: {a: {endpoints: ['http://a/'], panic: 10%}, c: {endpoints: ['http://b/']}}}")
    #expect(ManifestDifference(from: old, to: new).lines == ["~ upstream a", "+ upstream c", "- upstream b"])
  }

  @Test("a warning names a hash-key that has no effect")
  func unusedHashKey() throws {
    let manifest = try ManifestFixtures.manifest("{carabiner: 1, upstreams: {a: {endpoints: ['http://a/'], hash-key: x-user}}}")
    #expect(manifest.warnings.map(\.pointer.description) == ["/upstreams/a/hash-key"])
  }
}
