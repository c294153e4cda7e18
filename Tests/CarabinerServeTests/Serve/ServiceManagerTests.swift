import CommandTools
import Foundation
import TestTools
import Testing

/// Notifications to systemd, and sockets from it.
@Suite("carabiner serve: as a service")
struct ServiceManagerTests {
  @Test(
    "G26: it uses the inherited socket, and notifies systemd when it is ready, of each generation, and of each step of its end")
  func notifications() async throws {
    let folder = try StoreFolder()
    let manifest = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let run = try await ToolRun(
      Repository.python,
      [
        Repository.root.appending(path: "Tests/Peers/service_manager.py").path, Repository.command.path, "serve", "-m", manifest,
        "--endpoint", "http://127.0.0.1:9/", "--lame-duck", "10ms", "--watch",
      ])
    #expect(
      run.output.hasPrefix("READY=1\nok\nRELOADING=1\nREADY=1\nSTATUS=generation 3 serves\nSTOPPING=1\n"),
      "\(run.output)\(run.errors)")
    let lines = run.output.split(separator: "\n").dropFirst(6)
    // One for each step.
    let steps = lines.compactMap {
      $0.firstMatch(of: /STATUS=ending, step (\d) of 5: .* 0 operations EXTEND_TIMEOUT_USEC=[1-9]\d{6,}$/)?.1
    }
    #expect(steps == ["1", "2", "3", "4", "5"] && lines.last == "exit 0" && lines.count == 6, "\(lines)")
  }
}
