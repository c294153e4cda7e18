import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// `carabiner conform --isolation worker`: the same checks with the plugin in a real, confined worker.
@Suite("conform with workers")
struct IsolationTests {
  /// The outcome of one check, as far as both ways must agree.
  private struct Outcome: Equatable {
    let status: String
    /// Severity, message and place.
    let findings: Set<String>
  }

  /// Workers have not loaded the libraries of Swift, so they find them by this path.
  private static func environment() throws -> [String: String] {
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    let library = maps.split(separator: "\n").first { $0.hasSuffix("/libswiftCore.so") }?.split(separator: " ").last
    guard let library else { return [:] }
    return ["LD_LIBRARY_PATH": URL(filePath: String(library)).deletingLastPathComponent().path]
  }

  private func checks(_ arguments: [String]) async throws -> [JSONValue] {
    try checks(of: try await CommandRun(["conform"] + arguments, environment: try Self.environment()))
  }

  private func checks(of run: CommandRun) throws -> [JSONValue] {
    try #require(try JSONValue(parsing: run.output)["plugins"]?[0]?["checks"]?.array, "\(run.errors)")
  }

  private func outcome(of check: String, in checks: [JSONValue]) throws -> Outcome {
    let found = try #require(checks.first { $0["id"]?.string == check })
    let findings = (found["findings"]?.array ?? []).map { finding in
      "\(finding["severity"]?.string ?? ""): \(finding["message"]?.string ?? "") at \(finding["place"]?.string ?? "")"
    }
    return Outcome(status: found["status"]?.string ?? "", findings: Set(findings))
  }

  /// The plugins whose check runs in a worker.
  static let crossing = BadPlugin.all.filter { plugin in
    if ["SE08", "SE20", "ER06"].contains(plugin.check) { return false }
    // In a worker, hooks run on the worker's threads, with their stacks, their data and their locks. A copy of the host's process has no
    // worker, so the answers of the first instance of a process are not known.
    let others = ["HI02-depth", "LC05-once", "LC05-parsed", "SE17-basic", "TH02-twice", "TH03-stages"]
    if others.contains(plugin.name) { return false }
    return plugin.check.hasPrefix("SE") || plugin.check.hasPrefix("ER") || plugin.check.hasPrefix("HI")
      || plugin.check.hasPrefix("FZ")
      || ["ST01", "ST02", "ST03", "ST04", "ST06", "ST07", "TH01", "TH02", "TH03", "TH04", "TH05", "LC05", "LC06", "LC07", "LC08"]
        .contains(plugin.check)
  }

  @Test("both ways report the same findings of a plugin that breaks a rule", .rule("worker.82"), arguments: crossing)
  func sameFindings(_ plugin: BadPlugin) async throws {
    let inProcess = try checks(of: try await BuiltCorpus.shared.run(of: plugin))
    let worker = try await checks(["--isolation", "worker"] + plugin.ownCheck + [try await plugin.built()])
    let (found, expected) = (try outcome(of: plugin.check, in: worker), try outcome(of: plugin.check, in: inProcess))
    #expect(found.status == expected.status)
    // Sixteen threads meet in another exchange each time, also in one process. A fuzzed plugin that crashes does not do so after the same
    // number of cases. A worker releases calls later.
    if !["TH02", "FZ01", "LC08"].contains(plugin.check) { #expect(found == expected) }
    #expect(worker.first { $0["id"]?.string == plugin.check }?["isolation"] == "worker")
  }

  @Test("the list says which checks run in a worker, and why others do not", .rule("worker.80"))
  func list() async throws {
    let run = try await CommandRun(["conform", "--list", "--format", "json"])
    let checks = try #require(JSONValue(parsing: run.output).array)
    let crossing = Set(checks.filter { $0["isolation"] == "worker" }.compactMap { $0["id"]?.string })
    #expect(crossing == Set(Self.crossing.map(\.check)))
    for check in checks where check["isolation"] != "worker" {
      #expect(check["isolationReason"]?.string?.isEmpty == false, "\(check)")
    }
  }

  /// The other checks run as without workers, where `CorpusTests` has them all.
  @Test(
    "sound plugins in C, C++, Rust and Swift conform in a worker, and no system call is refused",
    .rule("worker.81", "worker-test.43"),
    arguments: BadPlugin.good)
  func soundPlugins(_ plugin: BadPlugin) async throws {
    let crossing = Set(Self.crossing.map(\.check)).sorted().joined(separator: ",")
    let run = try await CommandRun(
      [
        "conform", "--isolation", "worker", "--check", crossing, "--effort", "0.01", "--format", "json",
        try await plugin.built(),
      ], environment: try Self.environment())
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try JSONValue(parsing: run.output)["plugins"]?[0])
    let broken = (report["checks"]?.array ?? []).filter { !["PASS", "SKIP"].contains($0["status"]?.string ?? "") }
    #expect(broken.isEmpty, "\(broken)")
    #expect(report["conformsInWorker"] == true)
  }

  @Test(
    "the repository's own plugins conform in a worker, and no system call is refused", .rule("worker-test.43"),
    arguments: OwnPluginTests.names.filter { !OwnPluginTests.inProcess.contains($0) })
  func ownPlugins(_ name: String) async throws {
    let plugin = Repository.root.appending(path: "Plugins/\(name)/build/\(name).so").path
    let checks = try await checks([
      "--isolation", "worker", "--check", "SE,ST,ER,LC08,TH01", "--effort", "0.02", "--jobs", "1", "--format", "json", plugin,
    ])
    #expect(checks.allSatisfy { ["PASS", "SKIP"].contains($0["status"]?.string ?? "") }, "\(checks)")
    #expect(checks.contains { $0["isolation"] == "worker" && $0["status"] == "PASS" })
  }

  @Test("a system call that a worker refuses is a warning of PR03, with its name and its instruction", .rule("worker.81"))
  func refusedCall() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving("close(memfd_create(\"x\", 0));", into: folder)
    let run = try await CommandRun(["conform", "--isolation", "worker", "--check", "SE01", "--format", "json", plugin])
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try JSONValue(parsing: run.output)["plugins"]?[0])
    let check = try #require(report["checks"]?.array?.first { $0["id"] == "PR03" })
    #expect(check["status"] == "WARN")
    let message = check["findings"]?[0]?["message"]?.string ?? ""
    #expect(message.contains("memfd_create at libc.so.6 + 0x"), "\(check)")
    #expect(report["conformsInWorker"] == false)
    let text = try await CommandRun(["conform", "--isolation", "worker", "--check", "SE01", plugin])
    #expect(text.output.contains("but not in a worker: a system call was refused"))
  }

  @Test("a plugin that ends its worker in a hook is a crash, as in process", .rule("worker.80"))
  func crash() async throws {
    let folder = try FixturePlugin.Folder()
    let plugin = try await BadPlugin.misbehaving("_exit(0);", into: folder)
    for isolation in ["in-process", "worker"] {
      let arguments = ["--isolation", isolation, "--check", "SE01", "--effort", "0.02", "--format", "json", plugin]
      let found = try outcome(of: "SE01", in: try await checks(arguments))
      #expect(found.status == "CRASH")
    }
  }
}
