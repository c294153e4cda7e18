import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import CarabinerWire
import TestTools
import Testing

@Suite("The configuration of a plugin in a manifest")
struct ConfigurationTests {
  @Test("a configuration that breaks the plugin's schema is refused with the place")
  func configuration() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mod: x}}], chain: {graphql: [p]}}")
    let error = try #require(throws: ManifestError.self) { try HostedChain(manifest) }
    #expect(error.problems.map(\.pointer.description).sorted() == ["/plugins/0/config", "/plugins/0/config/mod"])
    #expect(error.problems.contains { $0.message.contains("did you mean mode?") })
    #expect(error.problems.allSatisfy { $0.position?.line == 1 })
    let refused = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mode: refuse}}], chain: {graphql: [p]}}")
    let refusal = #expect(throws: HostError.self) { try HostedChain(refused) }
    #expect(refusal?.message.contains("this configuration is refused") == true)
  }

  @Test("a plugin in a list it has no stage for is refused")
  func misplaced() async throws {
    let folder = try FixturePlugin.Folder()
    let path = try await FixturePlugin.compile("misbehave", into: folder)
    let manifest = try Manifest(
      text: "{carabiner: 1, plugins: [{name: p, file: \(path), config: {mode: x}}], chain: {http: [p]}}")
    let error = #expect(throws: ManifestError.self) { try HostedChain(manifest) }
    #expect(error?.problems.first?.pointer.description == "/chain/http/0")
  }
}
