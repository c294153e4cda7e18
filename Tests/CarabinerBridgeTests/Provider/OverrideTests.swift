import Carabiner
import CarabinerABI
import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Foundation
import TestTools
import Testing

/// Settings that switch the plugin `token` on or off, and the expected decision.
struct OverrideCase: CustomTestStringConvertible, Sendable {
  var entry = true
  var disabled: String?
  var enabled: String?
  var live: [(String, Bool)] = []
  /// The expected description of the decision; nil if no setting applies.
  let decision: String?

  var testDescription: String {
    "enabled: \(entry), disable \(disabled ?? "-"), enable \(enabled ?? "-"), live \(live.map { "\($0.0)=\($0.1)" })"
  }

  static let all = [
    OverrideCase(decision: nil),
    OverrideCase(entry: false, decision: "disabled by enabled: false in the manifest"),
    OverrideCase(disabled: "tok*", decision: "disabled by CARABINER_DISABLE=tok*"),
    OverrideCase(disabled: "other , ~all~", decision: "disabled by CARABINER_DISABLE=~all~"),
    OverrideCase(enabled: "token", decision: nil),
    OverrideCase(entry: false, enabled: "t*", decision: "enabled by CARABINER_ENABLE=t*"),
    OverrideCase(disabled: "~all~", enabled: "token", decision: "enabled by CARABINER_ENABLE=token"),
    OverrideCase(disabled: "~all~", enabled: "~all~", decision: "enabled by CARABINER_ENABLE=~all~"),
    OverrideCase(entry: false, disabled: "token", enabled: "audit", decision: "disabled by CARABINER_DISABLE=token"),
    OverrideCase(
      enabled: "token", live: [("token", false)], decision: "disabled by token at 2001-01-01T00:00:00Z: a reason"),
    OverrideCase(live: [("token", false), ("token", true)], decision: nil),
    OverrideCase(
      disabled: "token", live: [("tok*", true)], decision: "enabled by tok* at 2001-01-01T00:00:00Z: a reason"),
    OverrideCase(
      live: [("token", true), ("tok*", false)], decision: "disabled by tok* at 2001-01-01T00:00:00Z: a reason"),
    OverrideCase(live: [("audit", false)], decision: nil),
  ]
}

@Suite("Plugins are switched on and off from outside")
struct OverrideTests {
  private let plugins: HostedPlugins

  init() throws { plugins = try HostedPlugins() }

  private func chain(
    _ modes: [String], extra: String = "", overrides: StageOverrides = StageOverrides()
  ) async throws -> HostedChain {
    let path = try await FixturePlugin.compile("misbehave", into: plugins.folder)
    let entries = modes.enumerated().map { "{name: p\($0), file: \(path), config: {mode: \($1)}\(extra)}" }
    return try HostedChain(
      Manifest(
        text: """
          carabiner: 1
          plugins: [\(entries.joined(separator: ", "))]
          chain: {graphql: [\(modes.indices.map { "p\($0)" }.joined(separator: ", "))]}
          """), overrides: overrides)
  }

  @Test("the latest and most specific setting decides, and the decision names it", arguments: OverrideCase.all)
  func decisions(_ said: OverrideCase) throws {
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: token, file: /dev/null, enabled: \(said.entry)}], chain: {graphql: [token]}}")
    var overrides = StageOverrides(said.disabled, enabled: said.enabled)
    for (pattern, isEnabled) in said.live {
      overrides.override(
        pattern, isEnabled: isEnabled, reason: "a reason", at: Date(timeIntervalSinceReferenceDate: 0))
    }
    let stage = try #require(
      manifest.stagePlan(operationName: nil, type: .query, overrides: overrides).stages[.graphQL].first)
    #expect(stage.decision?.description == said.decision)
    #expect(stage.isActive == said.decision.map { $0.hasPrefix("enabled") } ?? true)
  }

  @Test("a pattern has one live setting, which can be removed")
  func live() {
    var overrides = StageOverrides("audit")
    overrides.override("token", isEnabled: false, reason: "slow")
    overrides.override("token", isEnabled: true, reason: "mended")
    #expect(overrides.live.map(\.isEnabled) == [true])
    let taken = ["token", "token", "audit"].map { overrides.removeLive($0) }
    #expect(taken == [true, false, false])
    #expect(overrides == StageOverrides("audit"))
  }

  @Test("a mandatory plugin cannot be switched off, unless another setting switches it on again")
  func mandatory() throws {
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: audit, file: /dev/null, mandatory: true}], chain: {graphql: [audit]}}")
    var live = StageOverrides()
    live.override("audit", isEnabled: false, reason: "noisy")
    for overrides in [StageOverrides("~all~"), StageOverrides("aud*"), live] {
      let refusal = try #require(manifest.refusals(of: overrides).first)
      #expect(refusal.code == .mandatoryDisabled)
      #expect(refusal.message.contains("narrow the pattern, or take the mark away"))
    }
    #expect(manifest.refusals(of: StageOverrides("~all~", enabled: "audit")).isEmpty)
  }

  @Test("patterns of the environment that match nothing are reported, each with its variable")
  func idle() throws {
    let manifest = try Manifest(text: "{carabiner: 1, plugins: [{name: audit, file: /dev/null}], chain: {graphql: [audit]}}")
    #expect(
      manifest.warnings(about: StageOverrides("audti,~all~,a*", enabled: "x?")).map(\.message) == [
        "CARABINER_ENABLE=x? fits no plugin and switches nothing on",
        "CARABINER_DISABLE=audti fits no plugin (did you mean audit?) and switches nothing off",
      ])
  }

  @Test("a live override takes effect for the next request, and a call under way keeps its stages")
  func next() async throws {
    let chain = try await chain(["replace"])
    #expect(try await HostedPlugins.name(chain) == "replaced")
    let transport = AnsweringTransport(isHeld: true)
    async let underWay = HostedPlugins.name(chain, transport)
    while transport.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    var overrides = chain.overrides
    overrides.override("p0", isEnabled: false, reason: "it replaces too much")
    try chain.setOverrides(overrides)
    #expect(chain.overrides == overrides)
    #expect(try await HostedPlugins.name(chain) == "server")
    #expect(chain.plan(nil, .query).active(.graphQL).isEmpty)
    transport.release()
    #expect(try await underWay == "replaced")
    overrides.override("p0", isEnabled: true, reason: "it was right")
    try chain.setOverrides(overrides)
    #expect(try await HostedPlugins.name(chain) == "replaced")
  }

  @Test("a live override of what is not there, or is mandatory, changes nothing")
  func refused() async throws {
    let chain = try await chain(["replace"], extra: ", mandatory: true")
    for (pattern, message) in [("p1", "there is no plugin p1"), ("p*", "mandatory"), ("~all~", "mandatory")] {
      var overrides = chain.overrides
      overrides.override(pattern, isEnabled: false, reason: "a test")
      let error = #expect(throws: ManifestError.self) { try chain.setOverrides(overrides) }
      #expect(error?.problems.first?.message.contains(message) == true, "\(String(describing: error))")
    }
    #expect(chain.overrides.isEmpty)
    #expect(try await HostedPlugins.name(chain) == "replaced")
  }

  @Test("a plugin that is off from the start is loaded when it is switched on, and not before")
  func late() async throws {
    let chain = try await chain(["refuse", "replace"], overrides: StageOverrides("~all~"))
    #expect(chain.libraries.isEmpty)
    #expect(try await HostedPlugins.name(chain) == "server")
    var overrides = chain.overrides
    overrides.override("p0", isEnabled: true, reason: "a try")
    let refusal = #expect(throws: HostError.self) { try chain.setOverrides(overrides) }
    #expect(refusal?.message.contains("this configuration is refused") == true)
    #expect(chain.overrides.live.isEmpty)
    overrides = chain.overrides
    overrides.override("p1", isEnabled: true, reason: "another")
    try chain.setOverrides(overrides)
    #expect(Array(chain.libraries.keys) == ["p1"])
    #expect(try await HostedPlugins.name(chain) == "replaced")
  }
}
