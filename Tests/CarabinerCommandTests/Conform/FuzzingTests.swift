import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// A fuzzed case can be reproduced by its name, and minimized.
@Suite("Fuzzing plugins")
struct FuzzingTests {
  private func plugin() async throws -> String {
    try await BadPlugin(Repository.root.appending(path: "Tests/Fixtures/Plugins/bad/FZ01.c")).built()
  }

  /// The first check of a report.
  private func report(_ arguments: [String], _ plugin: String) async throws -> JSONValue {
    let run = try await CommandRun(["conform", "--check", "FZ01", "--format", "json"] + arguments + [plugin])
    return try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?[0])
  }

  @Test("a case that ends the process is named, and its name reproduces and reduces it")
  func reproduction() async throws {
    let plugin = try await plugin()
    let detail = try #require(try await report(["--fuzz", "500"], plugin)["detail"]?.string)
    let name = try #require(detail.firstMatch(of: /case (1:[0-9]+)/)?.1)
    let run = try await CommandRun(["conform", "--reproduce", String(name), "--format", "json", plugin])
    #expect(run.status == 1)
    let found = try JSONValue(parsing: run.output)
    #expect(found["status"]?.string == "CRASH")
    let parts = try #require(found["ingredients"]?.array).compactMap(\.string)
    let enough = try #require(found["enough"]?.array).compactMap(\.int).map { parts[$0 - 1] }
    #expect(enough.count == 2, "\(enough)")
    #expect(enough.contains("each hook runs on another thread"))
    #expect(enough.contains { $0.contains("label") })
  }

  @Test("ingredients that are left out do not happen")
  func kept() async throws {
    let plugin = try await plugin()
    let detail = try #require(try await report(["--fuzz", "500"], plugin)["detail"]?.string)
    let name = String(try #require(detail.firstMatch(of: /case (1:[0-9]+)/)?.1))
    let run = try await CommandRun(["conform", "--reproduce", name, "--keep", "1", "--format", "json", plugin])
    #expect(run.status == 0)
    #expect(try JSONValue(parsing: run.output)["status"]?.string == "PASS")
  }

  @Test("a seed generates the same cases each time, and another seed generates others")
  func determinism() async throws {
    let plugin = try await plugin()
    let first = try await report(["--fuzz", "500"], plugin)["detail"]
    #expect(try await report(["--fuzz", "500"], plugin)["detail"] == first)
    #expect(try await report(["--fuzz", "500", "--seed", "2"], plugin)["detail"] != first)
  }

  @Test(
    "invalid names, unknown ingredients and counts out of range are usage errors",
    arguments: [
      (["--reproduce", "17"], "SEED:CASE"), (["--reproduce", "1:-1"], "SEED:CASE"),
      (["--reproduce", "1:99999999999999999999"], "SEED:CASE"), (["--reproduce", "1:1", "--keep", "99"], "has the ingredients"),
      (["--check", "FZ01", "--fuzz", "0"], "leaves FZ01 out"), (["--keep", "1"], "goes with --reproduce"),
      (["--fuzz", "-1"], "--fuzz"), (["--fuzz", "999999999999"], "--fuzz"),
    ])
  func usage(_ arguments: [String], _ message: String) async throws {
    let run = try await CommandRun(["conform"] + arguments + ["/nowhere.so"])
    #expect(run.status == 2)
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
