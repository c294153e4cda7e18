import CarabinerRelease
import Foundation
import TestTools
import Testing

@testable import CarabinerHost

@Suite("Serials of signed files")
struct SerialTests {
  private func configuration(_ site: SignedStamps) -> PluginHost.Configuration {
    var configuration = PluginHost.Configuration()
    configuration.trust = site.policy()
    configuration.stateDirectory = site.folder.file("state").path
    return configuration
  }

  /// The code of the refusal of a reload; nil if it is accepted.
  private func reload(_ host: PluginHost) async throws -> String? {
    do {
      try await host.reload()
      return nil
    } catch let error as ServerError {
      return error.message.split(separator: "[").last.map { String($0.dropLast()) }
    }
  }

  @Test("a lower serial is refused, and the same one with another file, also after a restart", .rule("signature.7"))
  func downgrade() async throws {
    let site = try await SignedStamps()
    try await site.sign(serial: 5)
    for _ in 0..<2 {
      let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
      #expect(try await reload(host) == nil)
      try await site.sign(site.plugin, as: "plugin:stamp", serial: 4)
      #expect(try await reload(host) == "downgrade")
      let bytes = try Data(contentsOf: URL(filePath: site.plugin))
      try await site.chain.build("other")
      try await site.sign(site.plugin, as: "plugin:stamp", serial: 5)
      #expect(try await reload(host) == "downgrade")
      try bytes.write(to: URL(filePath: site.plugin))
      try await site.sign(serial: 5)
      #expect(try await reload(host) == nil)
      await host.shutDown()
    }
    try await site.sign(site.plugin, as: "plugin:stamp", serial: 4)
    let error = await #expect(throws: ServerError.self) {
      _ = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
    }
    #expect(error?.message.hasSuffix("[downgrade]") == true)
    try await site.chain.build("six")
    try await site.sign(site.plugin, as: "plugin:stamp", serial: 6)
    let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
    await host.shutDown()
    let record = try SerialFile(path: site.folder.file("state/serials").path).read()
    #expect(record.text.contains("plugin:stamp 6 ") && record.text.contains("manifest:chain 5 "), "\(record.text)")
  }

  @Test("the serial of a candidate on trial counts when it is promoted, and not before", .rule("signature.7"))
  func candidates() async throws {
    let site = try await SignedStamps()
    let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
    let manifest = try String(contentsOfFile: site.chain.manifest, encoding: .utf8)
    try site.chain.write(manifest + "\nserve: {canary: {share: 50%, for: 1h}}\n")
    try await site.sign(serial: 9)
    #expect(try await reload(host) == nil)
    let trial = try #require(host.live.trial)
    _ = host.reloader.rollBack(trial, "the test ends it", trigger: "test")
    try site.chain.write(manifest)
    try await site.sign(serial: 2)
    #expect(try await reload(host) == nil)
    try site.chain.write(manifest + "\nserve: {canary: {share: 50%, for: 1h}}\n")
    try await site.sign(serial: 9)
    #expect(try await reload(host) == nil)
    _ = await host.reloader.promote(try #require(host.live.trial), trigger: "test")
    try site.chain.write(manifest)
    try await site.sign(serial: 8)
    #expect(try await reload(host) == "downgrade")
    await host.shutDown()
  }

  @Test("an operator can forget the serial of one file", .rule("signature.7"))
  func reset() async throws {
    let site = try await SignedStamps()
    try await site.sign(serial: 5)
    let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
    try await site.sign(site.plugin, as: "plugin:stamp", serial: 1)
    #expect(try await reload(host) == "downgrade")
    let (stamp, other) = (try #require(ReleaseSubject("plugin:stamp")), try #require(ReleaseSubject("plugin:other")))
    #expect(try await host.reloader.resetSerial(of: other) == false)
    #expect(try await host.reloader.resetSerial(of: stamp))
    #expect(try await reload(host) == nil)
    try await site.sign(site.chain.manifest, as: "manifest:chain", serial: 1)
    #expect(try await reload(host) == "downgrade")
    await host.shutDown()
  }

  @Test("a record of serials that is malformed refuses reloads, and the serving generation goes on", .rule("signature.7"))
  func malformed() async throws {
    let site = try await SignedStamps()
    let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration(site))
    try Data("nothing".utf8).write(to: site.folder.file("state/serials"))
    #expect(try await reload(host) == "invalidFile")
    #expect(host.generation == 1)
    await host.shutDown()
  }
}
