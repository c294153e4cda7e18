import Carabiner
import CarabinerRelease
import Foundation
import TestTools
import Testing

@testable import CarabinerHost

@Suite("Revoked files that are in use")
struct RevocationTests {
  /// A host that trusts a key, with a list of revocations that revokes nothing.
  private struct Site {
    let stamps: SignedStamps
    let log = LogTexts()
    let clock = SetClock(SignedStamps.time)
    let host: PluginHost

    init(enforcing: Bool = false, watching: Bool = false, _ change: (String) -> String = { $0 }) async throws {
      stamps = try await SignedStamps()
      let manifest = try String(contentsOfFile: stamps.chain.manifest, encoding: .utf8)
      try stamps.chain.write(change(manifest))
      try await stamps.sign()
      try Data("# nothing\n".utf8).write(to: stamps.folder.file("revoked"))
      var configuration = PluginHost.Configuration(logger: log.logger)
      configuration.trust = TrustPolicy(
        file: stamps.policy().file, revoked: stamps.folder.file("revoked").path, enforcesRevocation: enforcing
      ) { [clock] in clock.date }
      configuration.watchesFiles = watching
      host = try await PluginHost(manifest: stamps.chain.manifest, configuration: configuration)
    }

    /// Replaces the list in one step, because the host may read it at any time.
    func revoke(_ line: String) throws {
      try Data("\(line)\n".utf8).write(to: stamps.folder.file("revoked"), options: .atomic)
    }

    /// Looks as the host does each minute.
    func look() { host.releaseWatch?.look() }

    func metric(_ name: String = "carabiner_revoked_in_use") -> Double? {
      var samples = MetricSamples()
      host.metrics.write(to: &samples)
      return samples.values.first { $0.key.name == name }?.value
    }

    /// Waits until the host has switched the plugin off.
    func waitUntilWithdrawn() async throws {
      let deadline = ContinuousClock.now + .seconds(120)
      while try await stamp() != stamped(""), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(20)) }
      try await #expect(stamp() == stamped(""))
    }

    func stamp() async throws -> String { try await ApolloClient(networkTransport: host.transport).stamp() }

    /// The code of the refusal of a reload; nil if it is accepted.
    func reload() async throws -> String? {
      do {
        try await host.reload()
        return nil
      } catch let error as ServerError {
        return error.message.split(separator: "[").last.map { String($0.dropLast()) }
      }
    }
  }

  @Test(
    "a file that is revoked while it serves is a critical line once a day and a metric, and makes no new generation",
    .rule("signature.8"))
  func inUse() async throws {
    let site = try await Site()
    site.look()
    #expect(site.metric() == 0)
    try site.revoke("serials-below plugin:stamp 2")
    for _ in 0..<3 { site.look() }
    #expect(site.metric() == 1)
    #expect(site.log.count(of: "critical a revoked file is in use: serials of plugin:stamp below 2 are revoked") == 1)
    site.clock.set(SignedStamps.time.adding(seconds: 86_400))
    site.look()
    #expect(site.log.count(of: "critical a revoked file is in use") == 2)
    // It serves on, because revocation is not enforced.
    try await #expect(site.stamp() == stamped("one"))
    #expect(try await site.reload() == "revoked")
    try await site.stamps.sign(site.stamps.plugin, as: "plugin:stamp", serial: 2)
    #expect(try await site.reload() == nil)
    #expect(site.metric() == 0)
    await site.host.shutDown()
  }

  @Test(
    "a key, a digest or serials of plugin and manifest are revoked", .rule("signature.8"),
    arguments: ["key", "sha256", "manifest"])
  func lines(kind: String) async throws {
    let site = try await Site()
    switch kind {
    case "key":
      let run = try await ToolRun(
        URL(filePath: "/usr/bin/env"), ["ssh-keygen", "-l", "-f", site.stamps.folder.file("key.pub").path])
      try site.revoke("key \(run.output.split(separator: " ")[1])")
    case "sha256":
      let bytes = Array(try Data(contentsOf: URL(filePath: site.stamps.plugin)))
      try site.revoke("sha256 \(FileIdentity(of: bytes).digest)")
    default: try site.revoke("serials-below manifest:chain 2")
    }
    site.look()
    #expect(site.metric() == 1)
    // The key has signed both files.
    #expect(site.log.count(of: "critical a revoked file is in use") == (kind == "key" ? 2 : 1))
    #expect(try await site.reload() == "revoked")
    await site.host.shutDown()
  }

  @Test(
    "with --enforce-revocation a revoked plugin is switched off, and on again when it is not revoked any more",
    .rule("signature.8"))
  func enforced() async throws {
    let site = try await Site(enforcing: true)
    site.look()
    try await #expect(site.stamp() == stamped("one"))
    try site.revoke("serials-below plugin:stamp 2")
    site.look()
    try await #expect(site.stamp() == stamped(""))
    #expect(site.metric("carabiner_plugin_enabled") == 0)
    try site.revoke("")
    site.look()
    try await #expect(site.stamp() == stamped("one"))
    try site.revoke("serials-below plugin:stamp 2")
    site.look()
    try await site.stamps.sign(site.stamps.plugin, as: "plugin:stamp", serial: 2)
    #expect(try await site.reload() == nil)
    try await #expect(site.stamp() == stamped("one"))
    await site.host.shutDown()
  }

  @Test(
    "a reload reads the list, and a plugin that is revoked is then switched off, although the reload is refused",
    .rule("signature.8"))
  func enforcedByReload() async throws {
    let site = try await Site(enforcing: true)
    try await #expect(site.stamp() == stamped("one"))
    try site.revoke("serials-below plugin:stamp 2")
    #expect(try await site.reload() == "revoked")
    try await site.waitUntilWithdrawn()
    #expect(site.log.count(of: "critical a revoked file is in use") == 1)
    await site.host.shutDown()
  }

  @Test("with --watch, a change of the list makes a reload", .rule("signature.8"))
  func watched() async throws {
    let site = try await Site(enforcing: true, watching: true)
    // A change before the first poll is not seen as one, so the list changes until a change is seen.
    let deadline = ContinuousClock.now + .seconds(120)
    var count = 0
    while site.host.live.reloadCounts.refused == 0, ContinuousClock.now < deadline {
      try site.revoke("serials-below plugin:stamp 2\n# \(count)")
      count += 1
      try await Task.sleep(for: ManifestWatch.interval * 8)
    }
    #expect(site.host.live.reloadCounts.refused > 0)
    try await site.waitUntilWithdrawn()
    await site.host.shutDown()
  }

  @Test(
    "a plugin of a canary that is revoked is in use too, and stays switched off when the canary is promoted", .rule("signature.8")
  )
  func trial() async throws {
    let site = try await Site(enforcing: true)
    let manifest = try String(contentsOfFile: site.stamps.chain.manifest, encoding: .utf8)
    try site.stamps.chain.write(manifest + "\nserve: {canary: {share: 50%, for: 1h}}\n")
    try await site.stamps.chain.build("two")
    try await site.stamps.sign(serial: 2)
    #expect(try await site.reload() == nil)
    let trial = try #require(site.host.live.trial)
    let bytes = Array(try Data(contentsOf: URL(filePath: site.stamps.plugin)))
    try site.revoke("sha256 \(FileIdentity(of: bytes).digest)")
    site.look()
    #expect(site.metric() == 1)
    #expect(site.log.count(of: "critical a revoked file is in use") == 1)
    try #require(await site.host.reloader.promote(trial, trigger: "test") != nil)
    try await #expect(site.stamp() == stamped(""))
    await site.host.shutDown()
  }

  @Test("with --enforce-revocation, requests of a mandatory plugin that is revoked fail", .rule("signature.8"))
  func mandatory() async throws {
    let site = try await Site(enforcing: true) { $0.replacing("file: stamp.so", with: "file: stamp.so, mandatory: true") }
    try await #expect(site.stamp() == stamped("one"))
    try site.revoke("serials-below plugin:stamp 2")
    site.look()
    let error = await #expect(throws: (any Error).self) { try await site.stamp() }
    #expect("\(String(describing: error))".contains("its file is revoked"))
    let gateway = try await Gateway(host: site.host, configuration: Gateway.Configuration(address: "127.0.0.1:0")).start()
    let address = try #require(gateway.addresses.first)
    func status() async throws -> String {
      let body = #"{"query":"query Stamp { stamp }"}"#
      return try await ToolRun(
        URL(filePath: "/usr/bin/curl"),
        [
          "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Content-Type: application/json", "-d", body,
          "http://\(address)/graphql",
        ]
      ).output
    }
    try await #expect(status() == "500")
    try site.revoke("")
    site.look()
    try await #expect(site.stamp() == stamped("one"))
    try await #expect(status() == "200")
    await gateway.shutDown(lameDuck: .zero, within: .seconds(10), isHandedOver: false)
    await site.host.shutDown()
  }

  @Test("if the list cannot be read, the last one stays, and reloads are refused", .rule("signature.8"))
  func unreadable() async throws {
    let site = try await Site()
    try site.revoke("serials-below plugin:stamp 2")
    site.look()
    try site.revoke("nonsense")
    for _ in 0..<3 { site.look() }
    #expect(site.log.count(of: "error reloads are refused because of the list of revocations, and all that was revoked") == 1)
    #expect(site.metric() == 1)
    #expect(try await site.reload() == "invalidFile")
    try FileManager.default.removeItem(at: site.stamps.folder.file("revoked"))
    #expect(try await site.reload() == "unreadable")
    #expect(site.host.generation == 1)
    try await #expect(site.stamp() == stamped("one"))
    await site.host.shutDown()
  }
}
