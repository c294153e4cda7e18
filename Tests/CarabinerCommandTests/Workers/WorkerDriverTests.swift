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

  // W19, W20, W30, W32, W33: these checks of driver.c.
  // T6, T8, T9, T10, T11, T12, T13, T14, T15, T16, T21: these too.
  @Test("W25, W28, W29: reads, edits, verdicts, tokens, services and the life of calls are as in the process of the host")
  func semantics() async throws {
    let state = try await FixturePlugin.compile("state", into: folder, name: "state.so")
    let run = try await run(["test", state])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains(" checks, 0 failed"))
  }

  @Test("W24: no wake-up is lost", arguments: [("1", "1"), ("32", "2")])
  func wakeUps(inFlight: String, lanes: String) async throws {
    let run = try await run(["bench", "headers", inFlight, lanes, "20000"])
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    #expect(run.output.contains("20000 crossings"))
  }
}
