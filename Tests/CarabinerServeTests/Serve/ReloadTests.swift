import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// New generations while the old one serves.
@Suite("carabiner serve: generations")
struct ReloadTests {
  private static let manifest = """
    carabiner: 1
    serve: {return-headers: [x-stamp-*]}
    plugins: [{name: stamp, file: stamp.so}]
    chain: {http: [stamp, response-code]}

    """

  private let upstream: DemoServerProcess
  private let place: FixturePlugin.Folder
  private let gateway: ServeProcess
  private var folder: StoreFolder { gateway.folder }

  init() async throws {
    upstream = try DemoServerProcess()
    place = try FixturePlugin.Folder()
    let folder = try StoreFolder()
    _ = try folder.write(Self.manifest, to: "chain.yaml")
    let first = try await FixturePlugin.compile("stamp", into: place)
    try FileManager.default.copyItem(atPath: first, toPath: folder.file("stamp.so"))
    gateway = try ServeProcess(folder, endpoint: upstream.endpoint, ["--probe-timeout", "2s"])
  }

  /// Compiles another build of the plugin.
  private func build(_ definitions: String...) async throws -> Data {
    let path = try await FixturePlugin.compile("stamp", defining: definitions, into: place, name: "\(UUID().uuidString).so")
    return try Data(contentsOf: URL(filePath: path))
  }

  /// The stamps that the current plugin writes on requests and responses.
  private func stamps() throws -> [String] {
    let answer = try gateway.query(#"{ echoHeader(name: "x-stamp-down") }"#)
    let down = try JSONValue(parsing: answer.text)["data"]?["echoHeader"]?.string ?? "none"
    let up = answer.head.first { $0.lowercased().hasPrefix("x-stamp-up: ") }?.dropFirst("x-stamp-up: ".count)
    return [down, up.map(String.init) ?? "none"]
  }

  private func write(_ data: Data, _ name: String = "stamp.so") throws { try data.write(to: URL(filePath: folder.file(name))) }

  /// Overwrites the file in place, as `cp` does.
  private func overwrite(_ data: Data) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.file("stamp.so")))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: data)
    try handle.close()
  }

  @Test("a new build of a plugin takes over, whether it was renamed into place or written over the old one")
  func newBuild() async throws {
    #expect(try stamps() == ["one", "one"])
    try write(try await build("STAMP=\"two\""), "next.so")
    try FileManager.default.removeItem(atPath: folder.file("stamp.so"))
    try FileManager.default.moveItem(atPath: folder.file("next.so"), toPath: folder.file("stamp.so"))
    #expect(try stamps() == ["one", "one"])
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 0, "\(reload.errors)")
    #expect(
      reload.output.contains("generation 2 serves") && reload.output.contains("~ plugin stamp: its file"), "\(reload.output)")
    #expect(try stamps() == ["two", "two"])
    try overwrite(try await build("STAMP=\"three\""))
    #expect(try stamps() == ["two", "two"])
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamps() == ["three", "three"])
  }

  @Test(
    "a reload that fails keeps the old generation and says why",
    arguments: [
      ("CREATE_FAILS", "it does not want to"), ("CREATE_CRASHES", "crashed with signal 11"),
      ("CREATE_HANGS", "did not end within"),
    ])
  func refusedBuild(_ definition: String, _ reason: String) async throws {
    try write(try await build(definition, "STAMP=\"bad\""))
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 3)
    #expect(reload.output.contains("refused, generation 1 goes on") && reload.output.contains(reason), "\(reload.output)")
    #expect(reload.output.contains("would have changed:\n  ~ plugin stamp: its file"), "\(reload.output)")
    #expect(try stamps() == ["one", "one"])
    try write(try await build())
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamps() == ["one", "one"])
  }

  @Test(
    "an invalid manifest keeps the old generation, and the error shows the place",
    arguments: [
      ("carabiner: 1\nplugins: [", "syntax"), ("carabiner: 1\nplugin: []\n", "unknown key plugin"),
      (manifest.replacing("file: stamp.so", with: "file: none.so"), "there is no file"),
      (
        manifest.replacing("file: stamp.so", with: "file: stamp.so, sha256: \(String(repeating: "0", count: 64))"),
        "the manifest pins"
      ),
      (manifest.replacing("file: stamp.so", with: "file: stamp.so, config: {a: 1}"), "config"),
      (manifest.replacing("http: [stamp", with: "graphql: [stamp], http: [stamp"), "has no graphql stage"),
      ("", "the manifest is empty"),
    ])
  func refusedManifest(_ text: String, _ reason: String) async throws {
    _ = try folder.write(text, to: "chain.yaml")
    let reload = try await gateway.ask("reload", "--format", "json")
    #expect(reload.status == 3)
    let report = try JSONValue(parsing: reload.output)
    #expect(report["outcome"] == "refused")
    #expect(report["problems"]?.array?.contains { $0.string?.contains(reason) == true } == true, "\(reload.output)")
    #expect(try stamps() == ["one", "one"])
    #expect(try await gateway.status()["reloads"] == ["all": 1, "refused": 1])
  }

  @Test("a plugin's file that is truncated or deleted while it is loaded affects no request")
  func fileGone() async throws {
    try overwrite(Data(try await build().prefix(3000)))
    #expect(try stamps() == ["one", "one"])
    #expect(try await gateway.ask("reload").status == 3)
    try FileManager.default.removeItem(atPath: folder.file("stamp.so"))
    #expect(try await gateway.ask("reload").status == 3)
    #expect(try stamps() == ["one", "one"])
  }

  @Test("SIGHUP makes a new generation, and a change of the files does where they are watched")
  func triggers() async throws {
    let watching = try ServeProcess(folder, endpoint: upstream.endpoint, ["--watch"])
    kill(gateway.processID, SIGHUP)
    let start = ContinuousClock.now
    while try await gateway.status()["lastReload"]?["generation"] != 2, ContinuousClock.now - start < .seconds(20) {}
    #expect(try await gateway.status()["lastReload"]?["trigger"] == "SIGHUP")
    // A change before the first look of the watch is not seen, so the change is repeated until it is.
    var number = 0
    while try await watching.status()["lastReload"] == .null, ContinuousClock.now - start < .seconds(30) {
      number += 1
      _ = try folder.write(Self.manifest + "# \(number)\n", to: "chain.yaml")
      try await Task.sleep(for: .seconds(1))
    }
    #expect(try await watching.status()["lastReload"]?["trigger"] == "change of files")
  }

  @Test("a hundred reloads at once lose no request, and those that wait share one")
  func manyReloads() async throws {
    let gateway = gateway
    let answered = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var answered = 0
          for _ in 0..<25 {
            let answer = try await offThePool { try gateway.query("{ __typename }") }
            if answer.status == 200 { answered += 1 }
          }
          return answered
        }
      }
      group.addTask {
        for _ in 0..<100 {
          kill(gateway.processID, SIGHUP)
          try await Task.sleep(for: .milliseconds(10))
        }
        return 0
      }
      return try await group.reduce(0, +)
    }
    #expect(answered == 100)
    let reloads = try await gateway.status()["reloads"]
    #expect(reloads?["refused"] == 0)
    #expect((1...100).contains(reloads?["all"]?.int ?? 0))
  }

  @Test("a plugin whose file and configuration are the same keeps its instance")
  func keptInstance() async throws {
    _ = try folder.write(Self.manifest + "settings: {maximum-attempts: 3}\n", to: "chain.yaml")
    let reload = try await gateway.ask("reload", "--format", "json")
    #expect(try JSONValue(parsing: reload.output)["difference"] == ["~ settings"])
    #expect(try stamps() == ["one", "one"])
  }

  @Test("a host whose manifest is broken starts with what served last, if it may")
  func lastKnownGood() async throws {
    let state = ["--state", folder.file("state")]
    let before = try ServeProcess(folder, endpoint: upstream.endpoint, state)
    #expect(try await offThePool { before.end(with: SIGTERM) } == 0)
    try FileManager.default.removeItem(atPath: folder.file("stamp.so"))
    _ = try folder.write("carabiner: 1\nplugins: [", to: "chain.yaml")
    #expect(throws: ServeProcess.DidNotStart.self) { try ServeProcess(folder, endpoint: upstream.endpoint, state) }
    let after = try ServeProcess(folder, endpoint: upstream.endpoint, state + ["--start-from-last-good"])
    #expect(after.errors.contains("the last known good manifest serves"))
    let answer = try after.query("{ __typename }")
    #expect(answer.head.contains("X-Stamp-Up: one"))
    // Stored files are verified: a changed file does not match its digest.
    try Data("no plugin".utf8).write(
      to: URL(
        filePath: try #require(
          FileManager.default.subpaths(atPath: folder.file("state"))?.first { $0.hasSuffix(".so") }
            .map { folder.file("state/\($0)") })))
    #expect(throws: ServeProcess.DidNotStart.self) {
      try ServeProcess(folder, endpoint: upstream.endpoint, state + ["--start-from-last-good"])
    }
  }

  @Test("a gateway that is not running is reported, and a path that is not an admin socket is refused as an argument")
  func noGateway() async throws {
    let missing = try await CommandRun(["status", "--admin", "unix:\(folder.file("none.sock"))"])
    #expect(missing.status == 4)
    #expect(missing.errors.contains("is carabiner serve running"))
    #expect(try await CommandRun(["status", "--admin", "127.0.0.1:80"]).status == 2)
    #expect(try await CommandRun(["status"]).status == 2)
  }

  @Test("the admin socket is for its owner, serves several clients at once, and refuses invalid requests")
  func adminSocket() async throws {
    let path = gateway.socket
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let answers = try await withThrowingTaskGroup(of: Int32.self) { group in
      for _ in 0..<8 { group.addTask { try await gateway.ask("status").status } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 0, count: 8))
    func curl(_ arguments: String...) async throws -> String {
      try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "-i", "--unix-socket", path] + arguments).output
    }
    #expect(try await curl("http://x/nothing").hasPrefix("HTTP/1.1 404"))
    #expect(try await curl("-X", "DELETE", "http://x/status").hasPrefix("HTTP/1.1 405"))
    #expect(try await curl("http://x/metrics").contains("carabiner_generation 1"))
    #expect(try await curl("http://x/chain?type=nothing").hasPrefix("HTTP/1.1 400"))
    #expect(try await curl("http://x/chain").contains("\"stamp\""))
  }
}
