import Foundation
import TestTools
import Testing

@testable import CarabinerBridge
@testable import CarabinerProvider

@Suite("Obstacles to the reload of a plugin")
struct ReloadObstacleTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  /// The path of a plugin that has this source beside its own.
  private func plugin(_ source: String, with extra: String, defining definitions: [String] = [], style: String = "gnu")
    async throws
    -> String
  {
    let file = folder.file("extra.c")
    try Data(extra.utf8).write(to: file)
    return try await FixturePlugin.compile(
      source, defining: definitions, into: folder, linking: [file.path, "-Wl,--hash-style=\(style)"])
  }

  private static func threadMemory(_ bytes: Int) -> String {
    """
    static __thread char area[\(bytes)] __attribute__((tls_model("initial-exec")));
    __attribute__((used)) static char touch(void) { return area[3]++; }
    """
  }

  private static let uniqueSymbol = """
    __asm__(".data\\n.globl shared_state\\n.type shared_state, @gnu_unique_object\\n.size shared_state, 4\\nshared_state: .long 0\\n.text");
    """

  @Test("a plugin of the usual model has none", arguments: ["state", "loading"])
  func none(source: String) async throws {
    let path = try await FixturePlugin.compile(source, into: folder)
    try #expect(ReloadObstacles(path: path) == ReloadObstacles())
  }

  @Test("thread-local variables of the static model are found")
  func threadMemory() async throws {
    let path = try await plugin("state", with: Self.threadMemory(64))
    try #expect(ReloadObstacles(path: path) == ReloadObstacles(needsStaticThreadMemory: true))
  }

  @Test("symbols that are unique in the process are found, whatever the table of symbols", arguments: ["gnu", "sysv", "both"])
  func unique(style: String) async throws {
    let path = try await plugin("state", with: Self.uniqueSymbol, style: style)
    try #expect(ReloadObstacles(path: path) == ReloadObstacles(uniqueSymbol: "shared_state"))
  }

  @Test("the refusal for want of static thread-local storage says what to do")
  func usedUp() async throws {
    let path = try await plugin("state", with: Self.threadMemory(1 << 20))
    let error = try #require(throws: HostError.self) { try PluginLibrary.load(path: path) }
    #expect(error.code == .openFailed)
    #expect(error.message.contains("restart the gateway, and compile everything in it with -fPIC"), "\(error)")
  }

  @Test("a table that may be that of another plugin is refused with the cause", arguments: [true, false])
  func otherTable(isUnique: Bool) async throws {
    let path = try await plugin("loading", with: isUnique ? Self.uniqueSymbol : "", defining: ["NOTE_OTHER_ID"])
    let error = try #require(throws: HostError.self) { try PluginLibrary.load(path: path) }
    #expect(error.code == .badTable)
    #expect(error.message.contains("such as shared_state") == isUnique, "\(error)")
    #expect(error.message.contains("-fno-gnu-unique") == isUnique, "\(error)")
  }

  @Test("no changed byte of the file makes the reader trap")
  func mutations() async throws {
    let path = try await plugin("state", with: Self.uniqueSymbol)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var found = 0
    for offset in stride(from: 16, to: min(bytes.count, 8000), by: 5) {
      for value: UInt8 in [0, 0xFF] {
        var changed = bytes
        changed[offset] = value
        if let image = try? ELFImage(changed), ReloadObstacles(of: image).uniqueSymbol != nil { found += 1 }
      }
    }
    #expect(found > 0)
  }
}
