import CarabinerWire
import Foundation
import TestTools
import Testing

/// The proof of the harness: a plugin for each check that breaks its rule and no other.
///
/// Here each meets the checks of its own group, which is where rules lie close together; `Scripts/corpus` lets it meet all of them.
@Suite("The corpus of bad plugins")
struct CorpusTests {
  @Test("each check has a plugin that breaks it", .enabled(if: BadPlugin.isWhole))
  func everyCheckHasItsPlugin() async throws {
    let run = try await CommandRun(["conform", "--list", "--format", "json"])
    let checks = try #require(JSONValue(parsing: run.output).array).compactMap { $0["id"]?.string }
    #expect(checks.count > 0)
    #expect(Set(checks).subtracting(BadPlugin.all.map(\.check)).sorted() == [])
  }

  @Test("breaks exactly the rule it is named after", arguments: BadPlugin.all)
  func exactlyOneCheckFires(_ plugin: BadPlugin) async throws {
    let folder = try FixturePlugin.Folder()
    let built = try await plugin.build(into: folder)
    let run = try await CommandRun(
      ["conform"] + plugin.selection + ["--effort", "0.05", "--jobs", "1", "--format", "json", built] + plugin.arguments)
    let report = try JSONValue(parsing: run.output)
    let broken = (report["plugins"]?[0]?["checks"]?.array ?? []).filter { check in
      !["PASS", "SKIP"].contains(check["status"]?.string ?? "")
    }
    #expect(
      broken.map { "\($0["id"]?.string ?? "") \($0["status"]?.string ?? "")" } == ["\(plugin.check) \(plugin.status)"],
      "\(broken)")
    #expect(run.status == (plugin.status == "WARN" ? 0 : 1))
  }

  @Test("a plugin that breaks no rule reaches level 10")
  func aSoundPluginIsFound() async throws {
    let folder = try FixturePlugin.Folder()
    let source = Repository.root.appending(path: "Tests/Fixtures/Plugins/good/all-stages.c")
    let built = try await BadPlugin(source).build(into: folder)
    let run = try await CommandRun(["conform", "--level", "10", "--effort", "0.05", "--werror", built])
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.contains("conforms at level 10"))
  }
}
