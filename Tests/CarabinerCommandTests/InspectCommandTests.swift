import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner inspect")
struct InspectCommandTests {
  private static let plugins = CommandRun.root.appending(path: "Plugins").path

  @Test(
    "inspect reads the note, and with --load the table, in a worker", .rule("worker.72"),
    arguments: ["noop", "recorder", "ttl-cache", "cbor-parser", "token-auth"])
  func inspect(plugin: String) async throws {
    let path = "\(Self.plugins)/\(plugin)/build/\(plugin).so"
    let run = try await CommandRun(["inspect", "--load", "--format", "json", path])
    #expect(run.status == 0, "\(run.errors)")
    let report = try JSONValue(parsing: run.output)
    #expect(report["id"]?.string == "org.carabiner.\(plugin)")
    #expect(report["interceptors"]?[0]?["id"] == report["id"])
    #expect(report["sha256"]?.string?.count == 64)
  }

  @Test("a plugin whose entry crashes has an identity, but its worker cannot load it", .rule("worker.72"))
  func crashing() async throws {
    let plugin = try await CompiledFixture("loading", defining: ["ENTRY_CRASHES"])
    let note = try await CommandRun(["inspect", plugin.path])
    #expect(note.status == 0, "\(note.errors)")
    #expect(note.output.contains("org.carabiner.test.loading"))
    let loaded = try await CommandRun(["inspect", "--load", plugin.path])
    #expect(loaded.status == 3)
    #expect(loaded.errors.contains("the worker ended: signal 11"), "\(loaded.errors)")
    #expect(loaded.output.isEmpty)
  }
}
