import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Tests of the harness itself: for each check there is a plugin that breaks its rule and no other.
///
/// Each plugin runs its own check, because all together take an hour. `Scripts/scenario corpus` runs all checks.
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
    let run = try await BuiltCorpus.shared.run(of: plugin)
    let report = try JSONValue(parsing: run.output)
    let broken = (report["plugins"]?[0]?["checks"]?.array ?? []).filter { check in
      !["PASS", "SKIP"].contains(check["status"]?.string ?? "")
    }
    let found = broken.map { "\($0["id"]?.string ?? "") \($0["status"]?.string ?? "")" }
    let wanted = ["\(plugin.check) \(plugin.status)"]
    #expect(found == wanted, "\(broken)")
    BadPlugin.say(
      "\(plugin.testDescription): \(found == wanted ? "as it should be" : "NOT \(wanted)"): \(found.joined(separator: ", "))")
    #expect(run.status == (plugin.status == "WARN" ? 0 : 1))
  }

  @Test("plugins that break no rule reach level 10, in each round", arguments: BadPlugin.good)
  func aSoundPluginIsFound(_ plugin: BadPlugin) async throws {
    let built = try await plugin.built()
    var differences = 0
    for round in 1...BadPlugin.rounds {
      let run = try await CommandRun([
        "conform", "--level", "10", "--effort", "0.01", "--seed", "\(round)", "--format", "json", built,
      ])
      #expect(run.status == 0, "\(run.errors)")
      let checks = try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array ?? []
      let found = checks.filter { !["PASS", "SKIP"].contains($0["status"]?.string ?? "") }
      #expect(found.isEmpty, "\(found)")
      let refused = checks.filter { $0["output"]?.string?.contains("refused system calls") == true }
      #expect(refused.isEmpty, "\(refused)")
      differences += found.count
      #expect(checks.count { $0["status"]?.string == "PASS" } > 60)
      // The plugins on kits have extra extensions for these checks.
      for id in ["HR04", "SF01"] where plugin.language != .c {
        #expect(checks.first { $0["id"]?.string == id }?["status"] == "PASS", "\(id)")
      }
    }
    BadPlugin.say("\(plugin.testDescription): \(differences == 0 ? "as it should be" : "NOT, \(differences) differences")")
  }

  @Test("a wait of a plugin on a kit ends with the call", arguments: BadPlugin.waiting)
  func waitsEndWithTheCall(_ plugin: BadPlugin) async throws {
    let run = try await CommandRun([
      "conform", "--check", "ER", "--effort", "0.05", "--format", "json", try await plugin.built(),
    ])
    let checks = try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array)
    #expect(checks.allSatisfy { $0["status"]?.string == "PASS" }, "\(checks)")
    #expect(checks.contains { $0["id"]?.string == "ER06" })
  }

  @Test("there is a good plugin in each language")
  func everyLanguageHasItsPlugin() { #expect(Set(BadPlugin.good.map(\.language)) == Set(BadPlugin.Language.allCases)) }
}
