import CarabinerBridge
import CarabinerManifest
import CarabinerProvider
import Testing

/// State handover works in the same way in every language.
@Suite("Kits for plugin authors: handing over")
struct KitHandoverTests {
  private func instance(_ kit: KitPlugin, _ mode: String) async throws -> PluginInstance {
    let manifest = try Manifest(
      text: """
        carabiner: 1
        plugins: [{name: kit, file: \(await kit.entry), config: {mode: "\(mode)"}}]
        chain: {graphql: [kit]}
        """)
    return try #require(HostedChain(manifest).instance(of: "kit"))
  }

  @Test("the next instance takes over the state", arguments: KitPlugin.allCases)
  func handover(kit: KitPlugin) async throws {
    let state = try #require(try await instance(kit, "first").state())
    #expect(state == PluginState(version: 3, bytes: Array("kit:first".utf8)))
    let next = try await instance(kit, "second")
    #expect(try next.adopt(state: state))
    #expect(try next.state() == state)
    #expect(try await instance(kit, "nothing").state() == nil)
  }

  @Test(
    "state in an unknown format is refused with a reason", arguments: KitPlugin.allCases,
    [
      ("", 4, "kit:x", -3, "a newer version wrote this state: its layout is 4, and 3 is known"),
      ("", 2, "kit:x", 9, "this is not a state of a kit"), ("", 3, "kat:x", 9, "this is not a state of a kit"),
      ("throw in adopt", 3, "kit:x", -1, "thrown in adopt"),
    ] as [(String, UInt32, String, Int32, String)])
  func refusedState(
    kit: KitPlugin, _ refused: (mode: String, version: UInt32, bytes: String, code: Int32, why: String)
  ) async throws {
    let instance = try await instance(kit, refused.mode)
    let before = try instance.state()
    let error = #expect(throws: PluginError.self) {
      try instance.adopt(state: PluginState(version: refused.version, bytes: Array(refused.bytes.utf8)))
    }
    #expect(error?.hook == "adopt" && error?.pluginCode == refused.code)
    #expect(error?.message.contains(refused.why) == true, "\(error?.message ?? "")")
    #expect(try instance.state() == before)
  }

  @Test("a plugin may fail to hand over, and says why", arguments: KitPlugin.allCases)
  func failingSave(kit: KitPlugin) async throws {
    let instance = try await instance(kit, "throw in save")
    let error = #expect(throws: PluginError.self) { try instance.state() }
    #expect(error?.hook == "save" && error?.message.contains("thrown in save") == true)
  }
}
