import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Generations on trial, and the replay of recorded traffic.
@Suite("carabiner serve: canary, shadow, record and replay")
struct RolloutTests {
  private static let plain = """
    carabiner: 1
    serve: {return-headers: [x-stamp-*], forward-headers: [x-user, authorization]}
    plugins: [{name: stamp, file: one.so}]
    chain: {http: [stamp, response-code]}

    """

  private let upstream: DemoServerProcess
  private let folder: StoreFolder

  init() async throws {
    upstream = try DemoServerProcess()
    folder = try StoreFolder()
    _ = try folder.write(Self.plain, to: "chain.yaml")
    let place = try FixturePlugin.Folder()
    for (name, definitions) in [("one", []), ("two", ["STAMP=\"two\""]), ("bad", ["UP_FAILS"])] {
      let built = try await FixturePlugin.compile("stamp", defining: definitions, into: place, name: "\(name).so")
      try FileManager.default.copyItem(atPath: built, toPath: folder.file("\(name).so"))
    }
  }

  private func gateway(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: upstream.endpoint, arguments)
  }

  /// Changes the manifest: another build of the plugin, and more settings under `serve`.
  private func next(_ plugin: String, _ serve: String = "") throws {
    _ = try folder.write(
      Self.plain.replacing("one.so", with: "\(plugin).so").replacing("serve: {", with: "serve: {\(serve)"), to: "chain.yaml")
  }

  private func stamp(_ gateway: ServeProcess, user: String) throws -> String? {
    let answer = try gateway.query("{ __typename }", headers: ["X-User: \(user)"])
    return answer.head.first { $0.hasPrefix("X-Stamp-Up: ") }.map { String($0.dropFirst("X-Stamp-Up: ".count)) }
  }

  /// Waits until the last reload has this outcome. Returns its report.
  private func outcome(_ wanted: String, of gateway: ServeProcess) async throws -> JSONValue? {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(30) {
      let reload = try await gateway.status()["lastReload"]
      if reload?["outcome"]?.string == wanted { return reload }
    }
    return try await gateway.status()["lastReload"]
  }

  @Test("a canary takes its share, the same users each time, and all when it is promoted")
  func canary() async throws {
    let gateway = try gateway()
    try next("two", "canary: {share: 50%, for: 1h, key: x-user, latency-ratio: 1000}, ")
    let reload = try await gateway.ask("reload")
    #expect(reload.output.contains("generation 1 goes on, with a canary for 50% of the operations beside it"), "\(reload.output)")
    let users = (0..<20).map { "user \($0)" }
    let first = try users.map { try stamp(gateway, user: $0) }
    #expect(Set(first) == ["one", "two"])
    #expect(try users.map { try stamp(gateway, user: $0) } == first)
    let status = try await gateway.ask("status").output
    for (label, name) in [("its own", "two"), ("others'", "one")] {
      let clients = first.count { $0 == name }
      #expect(status.contains("\(label) \(2 * clients) operations of \(clients) clients, error rate 0"), "\(status)")
    }
    #expect(try await gateway.ask("rollout", "promote").status == 0)
    #expect(try users.prefix(5).map { try stamp(gateway, user: $0) } == Array(repeating: "two", count: 5))
  }

  @Test("a canary that nothing speaks against takes over by itself")
  func promotion() async throws {
    let gateway = try gateway()
    try next("two", "canary: {share: 100%, for: 500ms, minimum-operations: 2, latency-ratio: 1000}, ")
    #expect(try await gateway.ask("reload").status == 0)
    for _ in 0..<3 { _ = try stamp(gateway, user: "a") }
    let report = try await outcome("promoted", of: gateway)
    #expect(report?["outcome"] == "promoted" && report?["generation"] == 2, "\(report?.description ?? "none")")
    let status = try await gateway.status()
    #expect(status["trial"] == .null)
    #expect(status["reloads"] == ["all": 1, "refused": 0])
  }

  @Test("a canary whose operations fail is rolled back automatically, with the reason")
  func rollBack() async throws {
    let gateway = try gateway()
    try next("bad", "canary: {share: 50%, for: 1h, key: x-user, minimum-operations: 4}, ")
    #expect(try await gateway.ask("reload").status == 0)
    for user in 0..<20 { _ = try stamp(gateway, user: "user \(user)") }
    let report = try await outcome("rolled back", of: gateway)
    #expect(report?["problems"]?[0]?.string?.hasPrefix("100% of its") == true, "\(report?.description ?? "none")")
    #expect(report?["generation"] == 1)
    #expect(try (0..<10).allSatisfy { try stamp(gateway, user: "user \($0)") == "one" })
  }

  @Test("a shadow's results are compared and not sent to clients, and it takes over on command")
  func shadow() async throws {
    let gateway = try gateway()
    try next("bad", "shadow: {share: 100%}, ")
    #expect(try await gateway.ask("reload").status == 0)
    let answer = try gateway.query("query Same { __typename }")
    #expect(answer.status == 200)
    let start = ContinuousClock.now
    func comparison() async throws -> JSONValue? { try await gateway.status()["trial"]?["comparisons"]?["operations"]?["Same"] }
    while try await comparison()?["different"]?.int != 1, ContinuousClock.now - start < .seconds(30) {}
    #expect(try await comparison()?["different"] == 1)
    #expect(try await comparison()?["example"]?[0]?.string?.hasPrefix("/data: ") == true)
    #expect(try await gateway.ask("rollout", "abort").output.contains("called off"))
    #expect(try await gateway.ask("rollout", "promote").status == 3)
    try next("two", "shadow: {share: 100%}, ")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await gateway.ask("rollout", "promote").status == 0)
    #expect(try stamp(gateway, user: "a") == "two")
  }

  @Test("a record contains no secret, and its replay shows the differences with another manifest")
  func recordAndReplay() async throws {
    let record = folder.file("traffic.jsonl")
    let gateway = try gateway(["--record", record])
    for _ in 0..<3 {
      _ = try gateway.query(
        #"query Echo { echoHeader(name: "x-stamp-down") }"#, headers: ["Authorization: Bearer s3cret", "X-User: u"])
    }
    _ = try gateway.query("query Broken { failing }")
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    let text = try String(contentsOfFile: record, encoding: .utf8)
    #expect(text.split(separator: "\n").count == 4)
    #expect(!text.contains("s3cret") && text.contains("[redacted]"))
    let mode = try FileManager.default.attributesOfItem(atPath: record)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    // The replay does not ask the upstream.
    #expect(upstream.end(with: SIGTERM) == 0)
    let same = try await CommandRun(["replay", record, "-m", folder.file("chain.yaml"), "--requests"])
    #expect(same.status == 0, "\(same.output)\(same.errors)")
    #expect(same.output.contains("Echo: 3 the same, 0 different") && same.output.contains("Broken: 1 the same"), "\(same.output)")
    try next("two")
    let other = try await CommandRun(["replay", record, "-m", folder.file("chain.yaml"), "--requests", "--format", "json"])
    #expect(other.status == 1)
    let report = try JSONValue(parsing: other.output)
    #expect(report["operations"]?["Echo"] == ["same": 0, "different": 3])
    #expect(report["differences"]?[0]?["requests"]?[0] == "header x-stamp-down: one becomes two")
    try next("bad")
    let bad = try await CommandRun(["replay", record, "-m", folder.file("chain.yaml")])
    #expect(bad.status == 1)
    #expect(bad.output.contains("line 1, Echo:\n  /data: "), "\(bad.output)")
  }

  @Test("a record that is none is refused")
  func badRecords() async throws {
    let broken = try folder.write("{\"operation\":1}\n", to: "broken.jsonl")
    let replay = try await CommandRun(["replay", broken, "-m", folder.file("chain.yaml")])
    #expect(replay.status == 3)
    #expect(replay.errors.contains("line 1 is not a recorded operation"))
    #expect(try await CommandRun(["replay", folder.file("none"), "-m", folder.file("chain.yaml")]).status == 3)
  }

  @Test("a plugin is switched off and on while the gateway serves, with a reason that is shown")
  func overrides() async throws {
    let gateway = try gateway()
    #expect(try stamp(gateway, user: "a") == "one")
    let off = try await gateway.ask("disable", "stamp", "--reason", "incident 12")
    #expect(off.status == 0, "\(off.output)\(off.errors)")
    #expect(try stamp(gateway, user: "a") == nil)
    #expect(try await gateway.ask("status").output.contains("incident 12"))
    // It stays off in later generations.
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamp(gateway, user: "a") == nil)
    #expect(try await gateway.ask("enable", "stamp", "--reset").status == 0)
    #expect(try stamp(gateway, user: "a") == "one")
    let unknown = try await gateway.ask("disable", "stmap", "--reason", "typo")
    #expect(unknown.status == 3)
    #expect(unknown.output.contains("stamp"))
    _ = try folder.write(
      Self.plain.replacing("file: one.so", with: "file: one.so, mandatory: true"), to: "chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    let mandatory = try await gateway.ask("disable", "stamp", "--reason", "cannot be")
    #expect(mandatory.status == 3)
    #expect(try stamp(gateway, user: "a") == "one")
  }
}
