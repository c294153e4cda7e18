import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

@testable import CarabinerCommand

/// The files of the log and the access log.
@Suite("carabiner serve: log files")
struct LogFileTests {
  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func lines(_ name: String) throws -> [String] {
    let text = try String(contentsOfFile: folder.file(name), encoding: .utf8)
    #expect(text.isEmpty || text.hasSuffix("\n"), "\(name) ends within a line")
    return text.split(separator: "\n").map(String.init)
  }

  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
  }

  /// Waits until the gateway has opened a file again.
  private func waitForFile(_ name: String) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !FileManager.default.fileExists(atPath: folder.file(name)), ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test(
    "under load, files are renamed and opened again at SIGUSR1, and each line is in exactly one file, whole", .rule("gateway.29"))
  func rotation() async throws {
    let gateway = try ServeProcess(
      folder, endpoint: upstream.endpoint,
      [
        "--log-file", folder.file("gateway.log"), "--access-log-file", folder.file("access.log"), "--log-format", "json",
      ], environment: ["CARABINER_LOG": "critical"])
    let clients = 4
    let requests = 15
    let rotations = 3
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<clients {
        group.addTask {
          for number in 0..<requests {
            let answer = try await offThePool {
              try gateway.query("{ __typename }", headers: ["X-Request-Id: \(client)-\(number)"])
            }
            #expect(answer.status == 200)
          }
        }
      }
      for rotation in 1...rotations {
        for name in ["access.log", "gateway.log"] {
          try await waitForFile(name)
          try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("\(name).\(rotation)"))
        }
        kill(gateway.processID, SIGUSR1)
        // A reload writes a line at every level of the log.
        #expect(try await gateway.ask("reload").status == 0)
      }
      try await group.waitForAll()
    }
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics["carabiner_log_lines_lost_total{}"] == 0)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    let access = try (["access.log"] + (1...rotations).map { "access.log.\($0)" }).flatMap { try lines($0) }
    let ids = try access.map { try JSONValue(parsing: $0)["request_id"]?.string ?? "none" }
    #expect(ids.count == clients * requests && Set(ids).count == clients * requests)
    let log = try (["gateway.log"] + (1...rotations).map { "gateway.log.\($0)" }).flatMap { try lines($0) }
    let reloads = try log.filter { try JSONValue(parsing: $0)["message"]?.string?.hasPrefix("reload: ") == true }
    #expect(reloads.count == rotations)
    #expect(gateway.errors == "", "\(gateway.errors)")
    #expect(try mode("access.log") == 0o640 && mode("gateway.log") == 0o640)
  }

  @Test(
    "a file that cannot be opened again is used on, and the log says so; SIGUSR1 without files changes nothing",
    .rule("gateway.29"))
  func noNewFile() async throws {
    let place = folder.file("logs")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--log-file", "\(place)/gateway.log", "--access-log"])
    // A folder takes the place of the file's folder, so the path names a folder's entry that does not exist.
    try FileManager.default.moveItem(atPath: place, toPath: folder.file("moved"))
    kill(gateway.processID, SIGUSR1)
    let deadline = ContinuousClock.now + .seconds(60)
    while try lines("moved/gateway.log").isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    #expect(
      try lines("moved/gateway.log").first?.contains("logs/gateway.log cannot be opened: No such file or directory") == true)
    #expect(try gateway.query("{ __typename }", headers: ["X-Request-Id: after"]).status == 200)
    let plain = try ServeProcess(folder, endpoint: upstream.endpoint)
    kill(plain.processID, SIGUSR1)
    #expect(try plain.query("{ __typename }").status == 200)
    #expect(try await offThePool { plain.end(with: SIGTERM) } == 0)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    #expect(try lines("moved/gateway.log").contains { $0.contains("request_id=after") })
  }

  @Test(
    "a file in no folder is refused before anything begins", .rule("gateway.29"), arguments: ["--log-file", "--access-log-file"])
  func noFolder(_ option: String) async throws {
    let run = try await CommandRun([
      "serve", "-m", folder.file("chain.yaml"), "--endpoint", upstream.endpoint, "--listen", "127.0.0.1:0", option,
      folder.file("none/gateway.log"),
    ])
    #expect(run.status == 2 && run.errors.contains("none/gateway.log cannot be opened: No such file"), "\(run.errors)")
  }

  @Test("lines that cannot be written are counted", .rule("gateway.29"))
  func fullDisk() throws {
    let full = try LogFile(path: "/dev/full")
    full.write(Array("one\ntwo\n".utf8))
    #expect(full.lostLines == 2)
  }
}
