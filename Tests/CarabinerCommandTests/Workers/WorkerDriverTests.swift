import Foundation
import TestTools
import Testing

/// The worker under a host in C, which checks each message.
@Suite("The worker's side of the protocol")
struct WorkerDriverTests {
  private let folder: FixturePlugin.Folder

  init() throws { folder = try FixturePlugin.Folder() }

  private func run(_ arguments: [String]) async throws -> ToolRun {
    let root = Repository.root.path
    let driver = folder.file("driver")
    let sources =
      ["driver", "host"].map { "\(root)/Tests/Fixtures/Workers/\($0).c" }
      + ["host", "space", "wait", "worker"].map { "\(root)/Sources/CCrossing/\($0).c" }
    let options = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", driver.path]
    let includes = ["Sources/CCrossing/include", "Sources/CCarabiner/include"].map { "-I\(root)/\($0)" }
    let build = try await ToolRun(URL(filePath: "/usr/bin/cc"), options + includes + sources)
    guard build.status == 0 else { throw FixturePlugin.CompilerFailure(output: build.errors) }
    let probe = try await FixturePlugin.compile(at: "\(root)/Tests/Fixtures/Workers/probe.c", into: folder, name: "probe.so")
    let worker = Repository.root.appending(path: ".build/debug/carabiner-worker").path
    return try await ToolRun(driver, [arguments[0], worker, probe] + arguments.dropFirst())
  }

  @Test(
    "reads, edits, verdicts, tokens, services and the life of calls are as in the process of the host",
    .rule("worker.19", "worker.20", "worker.25", "worker.28", "worker.29", "worker.30", "worker.32", "worker.33"),
    .rule(
      "worker-test.6", "worker-test.8", "worker-test.9", "worker-test.10", "worker-test.11", "worker-test.12", "worker-test.13",
      "worker-test.14", "worker-test.15", "worker-test.16", "worker-test.21"))
  func semantics() async throws {
    let state = try await FixturePlugin.compile("state", into: folder, name: "state.so")
    let run = try await run(["test", state])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains(" checks, 0 failed"))
  }

  @Test("no wake-up is lost", .rule("worker.24"), arguments: [("1", "1"), ("32", "2")])
  func wakeUps(inFlight: String, lanes: String) async throws {
    let run = try await run(["bench", "headers", inFlight, lanes, "20000"])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("20000 crossings"))
  }
}
