import CarabinerBridge
import CarabinerManifest
import CarabinerRelease
import Foundation
import Logging
import TestTools
import Testing

@testable import CarabinerHost

@Suite("Loading files that were verified")
struct VerifiedLoadingTests {
  private func source(_ site: SignedStamps) -> GenerationSource {
    var configuration = PluginHost.Configuration()
    configuration.trust = site.policy()
    return GenerationSource(
      origin: .file(site.chain.manifest), configuration: configuration, observer: ChainCounters(),
      output: HostOutput(logger: Logger(label: "test")))
  }

  @Test("a plugin that is replaced after the check is not loaded, even if its new sidecar is valid", .rule("signature.11"))
  func replaced() async throws {
    let site = try await SignedStamps()
    let source = source(site)
    let candidate = try source.candidate()
    #expect(candidate.digests["stamp"] == candidate.releases?.plugins["stamp"]?.statement.file.digest)
    let trace = site.folder.file("trace").path
    try await site.chain.build("two", defining: ["TRACE=\"\(trace)\""])
    try await site.sign(serial: 2)
    let error = #expect(throws: HostError.self) { try source.generation(1, of: candidate) }
    #expect(error?.code == .pinMismatch)
    #expect(!FileManager.default.fileExists(atPath: trace))
    let next = try source.generation(2, of: source.candidate())
    #expect(next.digests["stamp"] != candidate.digests["stamp"])
    #expect(FileManager.default.fileExists(atPath: trace))
  }

  @Test("a child process loads no plugin and reads no manifest that were replaced after the check", .rule("signature.11"))
  func probed() async throws {
    let site = try await SignedStamps()
    let candidate = try source(site).candidate()
    let trace = site.folder.file("trace").path
    func report() throws -> ProbeReport {
      let plugin = try #require(candidate.manifest.plugin(named: "stamp"))
      return PluginProbe(
        candidate.manifest, at: site.chain.manifest, plugin: plugin, timeout: .seconds(60),
        executable: Repository.command.path, pins: candidate.releases?.pins(of: "stamp")
      ).report()
    }
    let first = try report()
    #expect(first.refusal == nil && first.problems.isEmpty)
    try await site.chain.build("two", defining: ["TRACE=\"\(trace)\""])
    #expect(try report().refusal?.code == .pinMismatch)
    #expect(!FileManager.default.fileExists(atPath: trace))
    let handle = try FileHandle(forWritingTo: site.folder.file("chain.yaml"))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("# changed\n".utf8))
    try handle.close()
    #expect(try report().problems.map(\.message) == ["the manifest changed after it was verified; load it again"])
  }

  @Test("a host that trusts keys refuses a plugin that they have not signed", .rule("signature.4"))
  func embedded() async throws {
    let site = try await SignedStamps()
    var configuration = PluginHost.Configuration()
    configuration.trust = site.policy()
    let host = try await PluginHost(manifest: site.chain.manifest, configuration: configuration)
    try await site.chain.build("two")
    let error = await #expect(throws: ServerError.self) { try await host.reload() }
    #expect(error?.code == .refused)
    #expect(error?.message.hasSuffix("[pinMismatch]") == true)
    #expect(host.generation == 1)
    await host.shutDown()
  }

  @Test("a statement is not valid before it is issued, and not from the second at which it expires", .rule("signature.6"))
  func dates() async throws {
    let site = try await SignedStamps()
    func code(at time: ReleaseTime) -> ReleaseError.Code? {
      do {
        _ = try ReleaseCheck(site.policy(at: time)).manifest(at: site.chain.manifest)
        return nil
      } catch {
        return (error as? ReleaseError)?.code
      }
    }
    let (issued, expires) = (SignedStamps.time, SignedStamps.time.adding(seconds: 90 * 86_400))
    #expect(code(at: issued.adding(seconds: -301)) == .notYetValid)
    #expect(code(at: issued.adding(seconds: -300)) == nil)
    #expect(code(at: expires.adding(seconds: -1)) == nil)
    #expect(code(at: expires) == .expired)
  }
}
