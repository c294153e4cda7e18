import CommandTools
import Foundation
import TestTools
import Testing

/// Notifications to systemd, and sockets from it.
@Suite("carabiner serve: as a service")
struct ServiceManagerTests {
  @Test(
    "it uses the inherited socket, and notifies systemd when it is ready, of each generation, and of each step of its end",
    .rule("gateway.26"))
  func notifications() async throws {
    let folder = try StoreFolder()
    let manifest = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let run = try await ToolRun(
      Repository.python,
      [
        Repository.root.appending(path: "Tests/Peers/service_manager.py").path, Repository.command.path, "serve", "-m", manifest,
        "--endpoint", "http://127.0.0.1:9/", "--lame-duck", "10ms", "--watch",
        "--admin", "unix:\(folder.file("admin.sock"))",
      ])
    let lines = run.output.split(separator: "\n")
    let beginning: [Substring] = [
      "READY=1", "ok", "RELOADING=1", "READY=1", "STATUS=generation 3 serves", "STATUS=generation 4 serves", "STOPPING=1",
    ]
    #expect(Array(lines.prefix(7)) == beginning, "\(run.output)\(run.errors)")
    let ending = lines.dropFirst(7)
    // One for each step.
    let steps = ending.compactMap {
      $0.firstMatch(of: /STATUS=ending, step (\d) of 5: .* 0 operations EXTEND_TIMEOUT_USEC=[1-9]\d{6,}$/)?.1
    }
    #expect(steps == ["1", "2", "3", "4", "5"] && ending.last == "exit 0" && ending.count == 6, "\(lines)")
  }
}
