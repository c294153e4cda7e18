import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The trace of a test, including plugins that end the process or write into the trace file.
@Suite("Traces of a conformance test")
struct TraceTests {
  private func trace(of plugin: String, in folder: FixturePlugin.Folder) async throws -> [JSONValue] {
    let path = folder.file("trace.json").path
    let run = try await CommandRun(["conform", "--check", "SE01", "--effort", "0.05", "--trace", path, plugin])
    #expect([0, 1].contains(run.status), "\(run.errors)")
    return try #require(try JSONValue(parsing: String(contentsOfFile: path, encoding: .utf8)).array)
  }

  @Test("each check is a process, hooks are spans that end, and host functions are moments in them")
  func spans() async throws {
    let folder = try FixturePlugin.Folder()
    // The plugin asks the host for a name and logs it.
    let plugin = try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/bad/HI06.c")).built()
    let events = try await trace(of: plugin, in: folder)
    #expect(events.first?["args"]?["name"]?.string?.hasPrefix("SE01 ") == true)
    let begun = events.filter { $0["ph"]?.string == "B" }
    #expect(begun.contains { $0["name"]?.string?.hasSuffix("graphql.on_request") == true })
    #expect(begun.count == events.count { $0["ph"]?.string == "E" })
    #expect(events.contains { $0["ph"]?.string == "i" && $0["cat"]?.string == "host" })
    let times = events.dropFirst().compactMap { $0["ts"]?.double }
    #expect(times.count == events.count - 1 && zip(times, times.dropFirst()).allSatisfy(<=))
  }

  @Test("a plugin that ends the process leaves its last hook in the trace")
  func crash() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.compile(
      """
      #include <carabiner.h>
      static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
        (void)inst, (void)call, (void)state, (void)result;
        __builtin_trap();
      }
      #define GRAPHQL_ON_RESULT on_result
      #include "sound.h"
      """, into: folder)
    let last = try #require(try await trace(of: plugin, in: folder).last)
    #expect(last["ph"]?.string == "B")
    #expect(last["name"]?.string?.hasSuffix("graphql.on_result") == true)
  }

  @Test(
    "a plugin that overwrites or truncates the trace damages only its own events",
    arguments: [
      "char junk[4096]; memset(junk, 0xFF, sizeof junk); for (int i = 0; i < 300; i++) if (write(4, junk, sizeof junk) < 0) break;",
      "if (ftruncate(4, 0) == 0) abort();",
    ])
  func tampering(_ statement: String) async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving(statement, into: folder)
    for event in try await trace(of: plugin, in: folder) { #expect(event["ph"]?.string != nil) }
  }

  @Test("a file that cannot be written is refused before the work")
  func refused() async throws {
    let run = try await CommandRun(["conform", "--check", "LD01", "--trace", "/proc/nowhere/trace.json", "/nowhere.so"])
    #expect(run.status == 2)
    #expect(run.errors.contains("--trace"))
  }
}
