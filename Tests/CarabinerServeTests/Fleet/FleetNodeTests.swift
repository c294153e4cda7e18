import CarabinerFleet
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Roll-outs to real gateways.
@Suite("Nodes of a fleet")
struct FleetNodeTests {
  private static let five = ["node-a", "node-b", "node-c", "node-d", "node-e"]
  private static let fakeClock = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

  private let fleet: NodeFleet

  init() async throws { fleet = try await NodeFleet() }

  /// Publishes the first manifest, which each node of the test serves at its start.
  private func publish() async throws {
    try await fleet.fleet("push", "-m", try fleet.manifest("1").path)
  }

  /// Publishes a candidate.
  ///
  /// - Returns: Its identity, and the revision of the push.
  private func rollOut(_ version: String = "2", _ more: String) async throws -> (id: CandidateID, revision: Int) {
    let manifest = try fleet.manifest(version, more)
    let pushed = try await fleet.fleet("push", "-m", manifest.path)
    return (manifest.id, try #require(pushed["revision"]?.int))
  }

  @Test(
    "a good manifest goes from stage to stage and becomes stable, also if the clock of a node is 1 h wrong", .rule("fleet.15"))
  func good() async throws {
    try await publish()
    var nodes: [String: ServeProcess] = [:]
    for name in Self.five {
      let clock = ["LD_PRELOAD": Self.fakeClock, "FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
      nodes[name] = try fleet.start(name, environment: name == "node-c" ? clock : [:])
    }
    try #require(await eventually { try await fleet.states().filter { $0.value == "serving" }.count == 5 })
    let (id, revision) = try await rollOut("2", "fleet: {stages: [20%, 60%, 100%], hold: 1s}")
    #expect(try await fleet.isOver())
    let state = try await fleet.state()
    #expect(state.stable?.id == id)
    #expect(state.marks.isEmpty && state.stage == nil && state.halt == nil)
    for (name, node) in nodes {
      #expect(try await node.serves("2"), "\(name): \(node.errors)")
      // To become stable changes nothing where the candidate serves: the first generation, and that of the trial.
      #expect(try await node.status()["generation"] == 2, "\(name): \(node.errors)")
    }
    let history = try await fleet.history(since: revision)
    let order = NodeFleet.order(Self.five, for: id)
    let stages = history.stages(fleet.keys)
    #expect(stages.map(\.stage) == [1, 2, 3])
    #expect(stages.map(\.takers) == [[], Set(order.prefix(1)), Set(order.prefix(3))])
    #expect(history.takers(fleet.keys) == Set(Self.five))
    let wrong = try #require(NodeName("node-c"))
    let reported = try #require(try await fleet.state().nodes[wrong]?.since)
    #expect(reported > Int(Date().timeIntervalSince1970) + 3000, "the clock of the node is not wrong")
  }

  @Test("a bad manifest is halted by itself, and runs on the nodes of the first stage only", .rule("fleet.15"))
  func bad() async throws {
    try await publish()
    let nodes = try await fleet.start(Self.five)
    let plugin = try await fleet.plugin("CREATE_FAILS")
    let (id, revision) = try await rollOut("2", "fleet: {stages: [20%, 100%], hold: 1s}\n\(plugin)")
    #expect(try await fleet.isHalted())
    let first = NodeFleet.order(Self.five, for: id)[0]
    #expect(try await fleet.history(since: revision).takers(fleet.keys) == [first])
    let state = try await fleet.state()
    #expect(state.halt?.failures.keys.map(\.self) == [first])
    #expect(state.halt?.failures[first]?.contains("stamp") == true, "\(String(describing: state.halt))")
    guard case .node = state.halt?.author else {
      Issue.record("not halted by a node: \(String(describing: state.halt))")
      return
    }
    #expect(try await fleet.reports(first, .refused))
    #expect(try await fleet.states().filter { $0.value == "refused" }.map(\.key) == [first])
    for (name, node) in nodes {
      #expect(try await node.serves("1"), "\(name)")
      #expect(await eventually { try await ScrapedMetrics(node)["carabiner_fleet_halted{}"] == 1 }, "\(name)")
    }
    #expect(nodes.values.contains { $0.errors.contains("the roll-out is halted, because nodes failed") })
    try await fleet.fleet("abort")
    #expect(await eventually { try await fleet.states().values.allSatisfy { $0 == "serving" } })
  }

  @Test("all nodes return after a halt by hand at stage 2, and after resume they take the candidate again", .rule("fleet.15"))
  func haltByHand() async throws {
    try await publish()
    let nodes = try await fleet.start(Self.five)
    let (id, _) = try await rollOut("2", "fleet: {stages: [20%, 60%, 100%], hold: 1h}")
    let order = NodeFleet.order(Self.five, for: id)
    #expect(try await nodes[order[0]]?.serves("2") == true)
    // As a node would do after the hold.
    let state = try await fleet.state()
    let plan = try #require(
      try? RolloutPlan(stages: ["20%", "60%", "100%"].compactMap { Share($0) }, hold: .seconds(3600)))
    try await fleet.put(.stage(id), RolloutStage(2, of: plan, state.status(of: id)).bytes)
    for name in order.prefix(3) {
      #expect(try await nodes[name]?.serves("2") == true, "\(name)")
      #expect(try await fleet.reports(name, .serving))
    }
    let last = try #require(nodes[order[4]])
    #expect(await eventually { try await ScrapedMetrics(last)["carabiner_fleet_stage{}"] == 2 })
    let metrics = try await ScrapedMetrics(last)
    #expect(metrics["carabiner_fleet_halted{}"] == 0)
    #expect(metrics.problems.isEmpty, "\(metrics.problems)")
    try await fleet.fleet("halt", "--reason", "errors at checkout")
    for name in order.prefix(3) { #expect(try await fleet.reports(name, .reverted)) }
    for (name, node) in nodes { #expect(try node.version() == "1", "\(name)") }
    let away = try await fleet.state()
    #expect(order.suffix(2).allSatisfy { name in NodeName(name).flatMap { away.nodes[$0]?.state } == .serving })

    try await fleet.fleet("resume")
    for name in order.prefix(3) { #expect(try await nodes[name]?.serves("2") == true, "\(name)") }
    #expect(try nodes[order[3]]?.version() == "1")
    let taker = try #require(nodes[order[0]])
    let status = try await taker.ask("status").output
    #expect(status.contains("fleet        node \(order[0]), serving; candidate \(id), stage 2"), "\(status)")
    try await fleet.fleet("promote")
    for (name, node) in nodes { #expect(try await node.serves("2"), "\(name)") }
  }

  @Test("a node that is killed in its trial holds the stage for its lease, and then is passed over", .rule("fleet.15"))
  func killed() async throws {
    try await publish()
    let names = ["node-a", "node-b", "node-c"]
    let more =
      try await fleet.plugin("WAITS")
      + "fleet: {stages: [60%, 100%], hold: 1s, halt-after: 2}\nserve: {return-headers: [x-stamp-*]}"
    let first = NodeFleet.order(names, for: try fleet.manifest("2", more).id)[0]
    var nodes: [String: ServeProcess] = [:]
    for name in names {
      nodes[name] = try fleet.start(
        name, ["--probe-timeout", "1h"], environment: name == first ? ["STAMP_WAITS": "1"] : [:])
    }
    try #require(await eventually { try await fleet.states().filter { $0.value == "serving" }.count == 3 })
    let (id, _) = try await rollOut("2", more)
    #expect(try await fleet.reports(first, .trial))
    let second = NodeFleet.order(names, for: id)[1]
    #expect(try await nodes[second]?.serves("2") == true)
    // The second node serves, and the first one holds the stage.
    #expect(try await fleet.state().stage?.number == 1)
    let victim = try #require(nodes[first])
    #expect(victim.end(with: SIGKILL) == -SIGKILL)
    #expect(try await fleet.isOver())
    #expect(try await fleet.state().stable?.id == id)
    for name in names where name != first { #expect(try await nodes[name]?.serves("2") == true, "\(name)") }
    #expect(try fleet.start(first).version() == "2")
  }

  @Test(
    "a node that finds its own note after a restart does not try the candidate again, and notes its failure",
    .rule("fleet.12", "fleet.13"))
  func restarted() async throws {
    try await publish()
    let more = try await fleet.plugin("WAITS") + "fleet: {stages: [100%], hold: 1h}\nserve: {return-headers: [x-stamp-*]}"
    let node = try fleet.start("node-a", ["--probe-timeout", "1h"], environment: ["STAMP_WAITS": "1"])
    #expect(try await fleet.reports("node-a", .serving))
    let (id, _) = try await rollOut("2", more)
    #expect(try await fleet.reports("node-a", .trial))
    #expect(node.end(with: SIGKILL) == -SIGKILL)
    // The child in which the plugin hangs ends with the gateway.
    let copy = fleet.chain.folder.file("state-node-a/candidate")
    #expect(await eventually { try await ToolRun(URL(filePath: "/usr/bin/pgrep"), ["-f", copy]).output.isEmpty })
    let again = try fleet.start("node-a")
    #expect(try again.version() == "1")
    #expect(try await fleet.isHalted())
    let state = try await fleet.state()
    let name = try #require(NodeName("node-a"))
    #expect(state.marks[name] == .failed("its process ended during the trial"))
    #expect(state.halt?.failures == ["node-a": "its process ended during the trial"])
    #expect(state.candidate?.id == id)
    #expect(try again.version() == "1")
  }

  @Test(
    "of two processes with one name both serve, one reports, and the other takes over when that one ends in order",
    .rule("fleet.12"))
  func sameName() async throws {
    try await publish()
    let one = try fleet.start("node-a")
    #expect(try await fleet.reports("node-a", .serving))
    let two = try ServeProcess(
      fleet.chain.folder, source: fleet.chain.address, endpoint: fleet.chain.upstream.endpoint,
      ["--state", fleet.chain.folder.file("other"), "--allow-unsigned"], environment: ["CARABINER_NODE_ID": "node-a"])
    let name = try #require(NodeName("node-a"))
    #expect(try await two.logs("give one another --node-id"), "\(two.errors)")
    #expect(try two.version() == "1")
    #expect(try await two.status()["source"]?["fleet"]?["registered"] == false)
    _ = try await rollOut("2", "fleet: {stages: [100%], hold: 1h}")
    #expect(try await one.serves("2"))
    #expect(try await fleet.reports("node-a", .serving))
    #expect(try two.version() == "1")
    #expect(try await offThePool { one.end(with: SIGTERM) } == 0)
    // Its report is removed at the end, so the other one needs not wait for the lease. Its note is too: this end says nothing.
    #expect(try await two.serves("2"), "\(two.errors)")
    #expect(await eventually { try await two.status()["source"]?["fleet"]?["registered"] == true })
    #expect(await eventually { try await fleet.state().marks[name] == .serving(ends: 0) })
  }

  @Test("a canary of the candidate decides its trial", .rule("fleet.13"))
  func canary() async throws {
    try await publish()
    let node = try fleet.start("node-a")
    #expect(try await fleet.reports("node-a", .serving))
    let canary = "serve: {canary: {share: 100%, for: 1s, minimum-operations: 5}}"
    let (id, _) = try await rollOut("2", "fleet: {stages: [100%], hold: 1h}\n\(canary)")
    #expect(try await fleet.reports("node-a", .trial))
    // The report comes before the trial, and the trial does not end before the operations below.
    #expect(await eventually { try await node.status()["trial"]?["kind"]?.string?.hasPrefix("canary") == true })
    let name = try #require(NodeName("node-a"))
    #expect(
      await eventually {
        _ = try node.version()
        return try await fleet.state().marks[name] == .serving(ends: 0)
      })
    #expect(try await fleet.state().nodes[name]?.candidate == id)
    #expect(try node.version() == "2")
  }

  @Test(
    "a halt ends a candidate at once, also if the stable manifest has a canary; a refused reload fails no node", .rule("fleet.13")
  )
  func stableCanary() async throws {
    let canary = "serve: {canary: {share: 1%, for: 1h, minimum-operations: 1000}}"
    try await fleet.fleet("push", "-m", try fleet.manifest("1", canary).path)
    let node = try fleet.start("node-a")
    #expect(try await fleet.reports("node-a", .serving))
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile("stamp", into: place, name: "stamp.so")
    let more = "plugins: [{name: stamp, file: \(plugin)}]\nchain: {http: [stamp, response-code]}\n"
    let (id, _) = try await rollOut("2", "fleet: {stages: [100%], hold: 1h}\n\(more)")
    #expect(try await node.serves("2"))
    let name = try #require(NodeName("node-a"))
    #expect(await eventually { try await fleet.state().marks[name] == .serving(ends: 0) })
    // The plugin is away for a moment.
    try FileManager.default.removeItem(atPath: plugin)
    #expect(try await node.ask("reload").status == 3)
    #expect(try await node.status()["source"]?["fleet"]?["state"] == "serving")
    #expect(try await fleet.state().marks[name] == .serving(ends: 0))
    #expect(try await fleet.state().halt == nil)
    try await fleet.fleet("halt")
    #expect(try await node.serves("1"), "\(node.errors)")
    #expect(try await fleet.reports("node-a", .reverted))
    #expect(try await node.status()["trial"]?.isNull == true)
    #expect(try await fleet.state().candidate?.id == id)
  }

  @Test("a node that failed and starts again counts as settled, so the others go on", .rule("fleet.13"))
  func failedAndRestarted() async throws {
    try await publish()
    let more =
      try await fleet.plugin("WAITS") + "fleet: {stages: [100%], hold: 1s, halt-after: 2}\nserve: {return-headers: [x-stamp-*]}"
    let first = try fleet.start("node-a", ["--probe-timeout", "1s"], environment: ["STAMP_WAITS": "1"])
    #expect(try await fleet.reports("node-a", .serving))
    try await fleet.fleet("push", "-m", try fleet.manifest("2", more).path)
    #expect(try await fleet.reports("node-a", .refused))
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    let again = try fleet.start("node-a")
    #expect(try await fleet.reports("node-a", .rolledBack))
    #expect(try again.version() == "1")
    let second = try fleet.start("node-b")
    #expect(try await fleet.isOver())
    for node in [again, second] { #expect(try await node.serves("2"), "\(node.errors)") }
  }

  @Test(
    "a node whose role may only read serves the stable manifest, takes no candidate, and logs what it may not", .rule("fleet.3"))
  func reader() async throws {
    try await fleet.chain.put(EtcdChain.text("1"))
    let port = fleet.chain.server.port
    func etcdctl(_ words: String...) async throws {
      let run = try await ToolRun(
        URL(filePath: "/usr/bin/env"),
        ["etcdctl", "--endpoints", "127.0.0.1:\(port)", "--command-timeout", "60s", "--dial-timeout", "60s"] + words)
      try #require(run.status == 0, "\(words): \(run.errors)")
    }
    for user in ["root", "reader"] { try await etcdctl("user", "add", "\(user):secret") }
    try await etcdctl("user", "grant-role", "root", "root")
    try await etcdctl("role", "add", "reader")
    try await etcdctl("role", "grant-permission", "reader", "read", "--prefix=true", "\(EtcdChain.prefix)/")
    try await etcdctl("user", "grant-role", "reader", "reader")
    try await etcdctl("auth", "enable")
    let password = try fleet.chain.folder.write("secret\n", to: "password")
    func login(_ user: String) -> [String] { ["--source-user", user, "--source-password-file", password] }
    let node = try fleet.start("node-a", login("reader"))
    #expect(try node.version() == "1")
    #expect(try await node.logs("this node cannot report to its fleet"), "\(node.errors)")
    #expect(node.errors.contains("etcd denies the request"), "\(node.errors)")
    let push = try await CommandRun(
      ["fleet", "push", "-m", fleet.manifest("2").path, "--to", fleet.chain.address, "--source-timeout", "60s"] + login("root"))
    #expect(push.output.contains("is the candidate now"), "\(push.errors)")
    let change = try await CommandRun(
      ["fleet", "promote", "--to", fleet.chain.address, "--source-timeout", "60s"] + login("root"))
    #expect(change.status == 0, "\(change.errors)")
    #expect(try await node.serves("2"), "\(node.errors)")
    #expect(!node.errors.contains("this node tries the candidate"), "\(node.errors)")
    #expect(try await offThePool { node.end(with: SIGTERM) } == 0)
  }

  @Test(
    "the serial of a candidate counts from its promotion on, so a node can go back to a stable manifest with a lower one",
    .rule("signature.7"))
  func serials() async throws {
    let signed = try await SignedChain()
    func push(_ version: String, serial: Int) async throws {
      let more = version == "1" ? "" : "fleet: {stages: [100%], hold: 1h}"
      let path = try signed.folder.write(EtcdChain.text(version, more), to: "prod.yaml")
      try await signed.sign(path, as: "manifest:prod", serial: serial)
      try await fleet.fleet("push", "-m", path)
    }
    let trust = ["--trust", signed.trust]
    try await push("1", serial: 1)
    let nodes = try await fleet.start(["node-a"], trust: trust)
    let node = try #require(nodes["node-a"])
    try await push("2", serial: 2)
    #expect(try await node.serves("2"), "\(node.errors)")
    try await fleet.fleet("halt")
    #expect(try await node.serves("1"), "\(node.errors)")
    #expect(try await fleet.reports("node-a", .reverted))
    try await fleet.fleet("resume")
    #expect(try await node.serves("2"))
    let serials = fleet.chain.folder.file("state-node-a/serials")
    #expect(try String(contentsOfFile: serials, encoding: .utf8).contains("manifest:prod 1 "))
    try await fleet.fleet("promote")
    // Kept without a new generation.
    #expect(await eventually { try String(contentsOfFile: serials, encoding: .utf8).contains("manifest:prod 2 ") })
    #expect(try await offThePool { node.end(with: SIGTERM) } == 0)
    fleet.chain.server.end()
    let again = try fleet.start("node-a", ["--source-timeout", "1s"], trust: trust)
    #expect(try again.version() == "2")
  }
}
