import Carabiner
import CarabinerBridge
import Foundation
import TestTools
import Testing

/// The objects of a plugin are destroyed before its instance, and never on a thread of the plugin.
@Suite("Kits for plugin authors: the end of an instance")
struct KitLifetimeTests {
  private let folder: FixturePlugin.Folder
  private let journal: JournalFile

  init() throws {
    folder = try FixturePlugin.Folder()
    journal = try JournalFile(in: folder)
  }

  /// Waits until the journal has enough lines. Gives up if the plugin never ends.
  private func lines(_ count: Int) async throws -> [String] {
    _ = await eventually(within: .seconds(30)) { try journal.lines().count >= count }
    return try journal.lines()
  }

  /// Runs one request, ignores its outcome, and releases the chain.
  private func run(_ kit: KitPlugin, _ mode: String, timeout: String) async throws {
    let chain = try await KitChain(
      kit, mode, extra: "timeout: \(timeout)", journal: journal.url.path, lists: "graphql: [kit]")
    _ = try? await chain.run()
  }

  @Test("work that waits for a timer is dropped before its instance, however long the timer", arguments: KitPlugin.allCases)
  func waiting(kit: KitPlugin) async throws {
    try await run(kit, "hold", timeout: "20ms")
    #expect(try await lines(2) == ["work", "plugin"])
  }

  @Test("a task of the plugin's own that waits for a timer ends with the instance")
  func waitingElsewhere() async throws {
    try await run(.swift, "hold elsewhere", timeout: "20ms")
    #expect(try await lines(1) == ["plugin"])
  }

  @Test("a repeating timer is dropped before its instance", arguments: KitPlugin.allCases)
  func repeating(kit: KitPlugin) async throws {
    try await run(kit, "tick", timeout: "10m")
    #expect(try await lines(2) == ["work", "plugin"])
  }

  @Test("work of a timer that is running when its instance ends is dropped before it")
  func runningTimer() async throws {
    try await run(.swift, "slow tick", timeout: "10m")
    #expect(try await lines(2) == ["work", "plugin"])
  }

  @Test(
    "work on a thread of the plugin's own ends before its instance, which ends on a thread of the host",
    arguments: [(KitPlugin.cpp, ["state", "plugin"]), (.rust, ["plugin", "worker"]), (.swift, ["plugin"])])
  func running(kit: KitPlugin, _ expected: [String]) async throws {
    try await run(kit, "overrun", timeout: "20ms")
    #expect(try await lines(expected.count) == expected)
  }
}
