import Foundation
import TestTools
import Testing

/// Notifications to systemd, and sockets from it.
@Suite("carabiner serve: as a service")
struct ServiceManagerTests {
  @Test("it uses the inherited socket, and notifies systemd when it is ready, reloads and ends")
  func notifications() async throws {
    let folder = try StoreFolder()
    let manifest = try folder.write("carabiner: 1\n", to: "chain.yaml")
    let run = try await ToolRun(
      Repository.python,
      [
        Repository.root.appending(path: "Tests/Peers/service_manager.py").path, Repository.command.path, "serve", "-m", manifest,
        "--endpoint", "http://127.0.0.1:9/",
      ])
    #expect(run.output == "READY=1\nok\nRELOADING=1\nREADY=1\nSTOPPING=1\nexit 0\n", "\(run.errors)")
  }
}
