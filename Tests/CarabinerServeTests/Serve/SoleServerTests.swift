import CarabinerWire
import CommandTools
import Foundation
import Glibc
import TestTools
import Testing

/// Resources that two gateways cannot use at the same time.
@Suite("carabiner serve: a second one")
struct SoleServerTests {
  private let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  private func gateway(_ arguments: [String] = [], socket: String? = nil) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: "http://127.0.0.1:9/", arguments, socket: socket)
  }

  private func second(_ arguments: [String]) async throws -> CommandRun {
    try await CommandRun(
      ["serve", "-m", folder.file("chain.yaml"), "--endpoint", "http://127.0.0.1:9/", "--listen", "127.0.0.1:0"] + arguments)
  }

  @Test(
    "an admin socket that a gateway serves is left to it; the second start reads nothing and names the process",
    .rule("gateway.28"))
  func adminSocket() async throws {
    let first = try gateway()
    let record = try folder.write("of the first\n", to: "traffic.jsonl")
    // It is refused before the manifest, which would be refused too, is read. So it is refused at once, whatever loading takes.
    let broken = try folder.write("carabiner: 1\nplugin: []\n", to: "broken.yaml")
    let run = try await CommandRun(
      ["serve", "-m", broken, "--listen", "127.0.0.1:0", "--admin", first.admin, "--record", record])
    #expect(run.status == 4)
    #expect(
      run.errors.contains(
        "another carabiner (process \(first.processID)) answers at \(first.socket); end it, take over from it with --take-over, "
          + "or name another path"), "\(run.errors)")
    #expect(run.output.isEmpty)
    #expect(try await first.status()["process"]?.int == Int(first.processID))
    // The refused gateway changed nothing.
    #expect(try String(contentsOfFile: record, encoding: .utf8) == "of the first\n")
  }

  @Test("the socket of a gateway that was killed is replaced", .rule("gateway.28"))
  func deadSocket() async throws {
    let socket = folder.file("admin.sock")
    let first = try gateway(socket: socket)
    #expect(try await offThePool { first.end(with: SIGKILL) } == -SIGKILL)
    #expect(FileManager.default.fileExists(atPath: socket))
    let next = try gateway(socket: socket)
    #expect(try await next.status()["process"]?.int == Int(next.processID))
  }

  @Test("a socket to listen on that another process serves is left to it too")
  func listener() async throws {
    let first = try gateway()
    let run = try await CommandRun(
      ["serve", "-m", folder.file("chain.yaml"), "--endpoint", "http://127.0.0.1:9/", "--listen", first.admin])
    #expect(run.status == 4)
    #expect(run.errors.contains("another process (\(first.processID)) answers at \(first.socket)"), "\(run.errors)")
    #expect(try await first.status()["generation"] == 1)
  }

  @Test("a port in use is said in the system's words, with the process that has it and what to do")
  func port() async throws {
    let first = try gateway()
    let run = try await CommandRun(
      ["serve", "-m", folder.file("chain.yaml"), "--endpoint", "http://127.0.0.1:9/", "--listen", "127.0.0.1:\(first.port)"])
    #expect(run.status == 4)
    #expect(
      run.errors.contains(
        "cannot listen on 127.0.0.1:\(first.port): Address already in use by carabiner (process \(first.processID)); choose another with --listen"
      ),
      "\(run.errors)")
  }

  @Test("a folder of --state has one process, and the next one once that has ended, however it ended")
  func state() async throws {
    let state = ["--state", folder.file("state")]
    let first = try gateway(state)
    let run = try await second(state)
    #expect(run.status == 4)
    #expect(
      run.errors.contains("another carabiner (process \(first.processID)) keeps its state in \(folder.file("state"))"),
      "\(run.errors)")
    #expect(try await offThePool { first.end(with: SIGKILL) } == -SIGKILL)
    _ = try gateway(state)
    let file = try folder.write("", to: "no-folder")
    #expect(try await second(["--state", file]).status == 2)
  }

  @Test("an existing record is renamed with the next number; after 12 starts there are ten complete files", .rule("gateway.30"))
  func records() async throws {
    let record = folder.file("traffic.jsonl")
    for start in 1...12 {
      let gateway = try gateway(["--record", record])
      #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
      // The start time, which identifies the process later.
      try Data("start \(start)\n".utf8).write(to: URL(filePath: record))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("traffic") }
    #expect(names.sorted() == (["traffic.jsonl"] + (1...9).map { "traffic.jsonl.\($0)" }).sorted())
    #expect(try String(contentsOfFile: record, encoding: .utf8) == "start 12\n")
    for number in 1...9 {
      #expect(try String(contentsOfFile: "\(record).\(number)", encoding: .utf8) == "start \(12 - number)\n")
    }
  }

  @Test(
    "a folder, a device and a file in no folder are not valid records, and the status is 2", .rule("gateway.30"),
    arguments: ["", "/dev/null", "none/traffic.jsonl"])
  func noRecord(path: String) async throws {
    let run = try await second(["--record", path.hasPrefix("/") ? path : folder.file(path)])
    #expect(run.status == 2)
    #expect(run.errors.contains("--record takes a file"), "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: "/dev/null") && FileManager.default.fileExists(atPath: folder.path))
  }

  @Test("listening is an object where the log is one")
  func listening() async throws {
    let process = ChildProcess()
    process.executableURL = Repository.command
    process.arguments = [
      "serve", "-m", folder.file("chain.yaml"), "--endpoint", "http://127.0.0.1:9/", "--listen", "127.0.0.1:0", "--log-format",
      "json",
    ]
    let output = Pipe.notInherited()
    process.standardOutput = output
    try process.run()
    defer { process.terminate() }
    let line = try await offThePool { try JSONValue(parsing: output.fileHandleForReading.line()) }
    #expect(line["message"] == "listening")
    #expect(line["address"]?.string?.hasPrefix("127.0.0.1:") == true)
    #expect(line["time"]?.string != nil && line["level"] == "notice")
  }

  @Test("a reload by SIGHUP is reported once, at any level of the log", arguments: ["warning", "info"])
  func hangUp(level: String) async throws {
    let gateway = try ServeProcess(folder, endpoint: "http://127.0.0.1:9/", environment: ["CARABINER_LOG": level])
    let deadline = ContinuousClock.now + .seconds(120)
    for generation in 2...3 {
      kill(gateway.processID, SIGHUP)
      while try await gateway.status()["lastReload"]?["generation"]?.int != generation, ContinuousClock.now < deadline {}
    }
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    for generation in 2...3 {
      let lines = gateway.errors.split(separator: "\n").filter { $0.contains("generation \(generation) serves") }
      #expect(lines.count == 1, "\(gateway.errors)")
    }
  }
}
