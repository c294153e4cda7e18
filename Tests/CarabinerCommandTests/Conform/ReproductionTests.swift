import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A finding names the exchange that provoked it, and a command that provokes it again.
@Suite("Reproducing findings")
struct ReproductionTests {
  private func checks(_ plugin: String, _ arguments: [String]) async throws -> [JSONValue] {
    let run = try await CommandRun(["conform", "--effort", "0.05", "--format", "json"] + arguments + [plugin])
    return try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array, "\(run.errors)")
  }

  /// Runs the command of a finding, whose words have no spaces.
  private func again(_ command: String?, _ more: [String] = []) async throws -> CommandRun {
    let words = try #require(command).split(separator: " ").map(String.init)
    #expect(words.prefix(3) == ["carabiner", "conform", "--reproduce"])
    return try await CommandRun(Array(words.dropFirst()) + more)
  }

  private static func uncounted(_ finding: JSONValue?) -> JSONObject? {
    var members = finding?.object
    members?["count"] = nil
    return members
  }

  private static let names: Set = ["ER01.c", "ME01.c", "SE05.c", "SE11.c", "ST03.c", "TH03.c", "LC08.c"]

  @Test(
    "the command of a finding provokes it again, but not with an earlier exchange",
    arguments: BadPlugin.all.filter { names.contains($0.testDescription) })
  func again(_ plugin: BadPlugin) async throws {
    let built = try await plugin.built()
    let arguments = ["--check", plugin.check] + plugin.arguments
    let check = try #require(try await checks(built, arguments).first { $0["id"]?.string == plugin.check })
    let finding = try #require(check["findings"]?[0], "\(check)")
    #expect(finding["foundBy"]?.string == plugin.check)
    let exchange = try #require(finding["exchange"]?.int, "\(finding)")
    let run = try await again(finding["reproduce"]?.string, ["--format", "json"])
    #expect(run.status == 1, "\(finding) \(run.output)\(run.errors)")
    let found = try JSONValue(parsing: run.output)
    #expect(found["cameAgain"] == true)
    #expect(found["finding"]?.string == "\(plugin.check):\(plugin.check):\(exchange):1")
    // A full run and the reproduction agree.
    let equal = found["findings"]?.array?.first { $0["check"] == finding["check"] && $0["exchange"] == finding["exchange"] }
    #expect(equal?["message"] == finding["message"] && equal?["place"] == finding["place"], "\(finding) \(found)")
    // Threads decide how often a race is found.
    let second = try await checks(built, arguments).first { $0["id"] == check["id"] }?["findings"]?[0]
    #expect(Self.uncounted(second) == Self.uncounted(finding))
    guard exchange > 1 else { return }
    let earlier = try await CommandRun(
      ["conform", "--effort", "0.05", "--reproduce", "\(plugin.check):\(plugin.check):\(exchange - 1):1", built]
        + plugin.arguments)
    #expect(earlier.status == 0 && earlier.output.contains("did not come again"), "\(earlier.output)")
  }

  @Test("the command of a crash provokes it again, and says so until the plugin is corrected")
  func crash() async throws {
    let folder = try FixturePlugin.Folder()
    let text = """
      #include <carabiner.h>
      #include <stdlib.h>
      static int count;
      static crb_verdict on_result(void *inst, crb_call call, void *state, const crb_result *result) {
        (void)inst, (void)call, (void)state, (void)result;
        if (++count == 3) abort();
        return CRB_CONTINUE;
      }
      #define GRAPHQL_ON_RESULT on_result
      #include "sound.h"
      """
    let plugin = try await BadPlugin.compile(text, ["-g"], into: folder)
    let check = try #require(try await checks(plugin, ["--check", "SE01"]).first)
    #expect(check["status"] == "CRASH" && check["exchange"]?.int ?? 0 > 1, "\(check)")
    let run = try await again(check["reproduce"]?.string)
    #expect(run.status == 1)
    #expect(run.output.contains("at on_result at ") && run.output.contains("came again"), "\(run.output)")
    _ = try await BadPlugin.compile(text.replacing("abort();", with: ""), into: folder)
    let corrected = try await again(check["reproduce"]?.string)
    #expect(corrected.status == 0 && corrected.output.contains("did not come again"), "\(corrected.output)")
  }

  @Test("a finding of a fuzzed case names the case")
  func fuzzed() async throws {
    let plugin = try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/bad/FZ01.c")).built()
    let check = try #require(try await checks(plugin, ["--check", "FZ01", "--fuzz", "500"]).first)
    let name = try #require(check["detail"]?.string?.firstMatch(of: /case (1:[0-9]+)/)?.1)
    #expect(check["reproduce"]?.string?.contains("--reproduce \(name) ") == true, "\(check)")
  }

  @Test("the text of a report has the command of each finding, and the help explains it")
  func text() async throws {
    let plugin = try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/bad/SE05.c")).built()
    let run = try await CommandRun(["conform", "--check", "SE05", plugin])
    #expect(
      run.output.firstMatch(of: /\s{10}found by SE05, exchange \d+: carabiner conform --reproduce SE05:SE05:\d+:1/) != nil,
      "\(run.output)")
    #expect(try await CommandRun(["conform", "--help"]).output.contains("RULE:CHECK:EXCHANGE:SEED"))
  }

  @Test(
    "names that are not those of a finding are usage errors",
    arguments: [
      (["SE05:HI02:17"], "RULE:CHECK:EXCHANGE:SEED"), (["SE05:HI02:-1:1"], "RULE:CHECK:EXCHANGE:SEED"),
      (["SE05:HI02:1:x"], "RULE:CHECK:EXCHANGE:SEED"), (["SE99:HI02:1:1"], "there is no check SE99"),
      (["SE05:HI99:1:1"], "there is no check HI99"), (["FZ01:FZ01:1:1"], "SEED:CASE"),
      (["SE05:HI02:1:1", "--keep", "1"], "--keep"),
    ])
  func usage(_ arguments: [String], _ message: String) async throws {
    let run = try await CommandRun(["conform", "--reproduce"] + arguments + ["/nowhere.so"])
    #expect(run.status == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
