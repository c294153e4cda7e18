import CarabinerFleet
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// `carabiner fleet` and a real etcd.
@Suite("carabiner fleet")
struct FleetCommandTests {
  private let fleet: FleetStand

  init() async throws { fleet = try await FleetStand() }

  /// Publishes a stable manifest and a candidate.
  private func rollOut() async throws -> CandidateID {
    let (stable, candidate) = (try fleet.manifest(1), try fleet.manifest(2))
    try #require(try await fleet.push(stable.path).status == 0)
    try #require(try await fleet.push(candidate.path).status == 0)
    return candidate.id
  }

  @Test(
    "the first push writes stable, the next one candidate and its first stage, with the documented names",
    .rule("fleet.12", "fleet.14"))
  func push() async throws {
    let (one, two) = (try fleet.manifest(1), try fleet.manifest(2))
    let first = try await fleet.push(one.path)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.contains("\(one.id) is the stable manifest now: no other one was published"), "\(first.output)")
    #expect(first.errors.contains("is not signed; nodes with --trust refuse it"), "\(first.errors)")
    #expect(Set(try await fleet.values().keys) == ["stable"])
    for index in 0..<20 { try await fleet.report("node-\(index)", .serving) }
    let second = try await fleet.push(two.path)
    #expect(second.output.contains("\(two.id) is the candidate now, in stage 1 of 3: 10% of 20 nodes"), "\(second.output)")
    #expect(Set(try await fleet.values().keys) == ["stable", "candidate", "stage/\(two.id)"])
    #expect(try await fleet.value("candidate") == String(contentsOfFile: two.path, encoding: .utf8))
    #expect(try await fleet.value("stage/\(two.id)")?.contains(#""stage":1"#) == true)
    let again = try await fleet.push(one.path)
    #expect(again.status == 3 && again.errors.contains("--replace"), "\(again.errors)")
  }

  @Test("a push is refused with exit status 3 while another candidate is there, unless --replace", .rule("fleet.14"))
  func replace() async throws {
    let first = try await rollOut()
    try await fleet.put(.taken(first, by: try #require(NodeName("node-1"))), TrialMark.failed("no").bytes)
    try await fleet.json("halt")
    let three = try fleet.manifest(3)
    let before = try await fleet.values()
    let refused = try await fleet.push(three.path)
    #expect(refused.status == 3 && refused.output.isEmpty)
    #expect(refused.errors.contains("another candidate is there, \(first)") && refused.errors.contains("--replace"))
    #expect(try await fleet.values() == before)
    let replaced = try await fleet.push(three.path, "--replace", "--format", "json")
    #expect(replaced.status == 0, "\(replaced.errors)")
    #expect(try JSONValue(parsing: replaced.output)["manifest"]?.string == "\(three.id)")
    #expect(Set(try await fleet.values().keys) == ["stable", "candidate", "stage/\(three.id)"])
  }

  @Test("of pushes at once exactly one wins, first as stable, then as candidate", .rule("fleet.14"), arguments: [false, true])
  func pushesAtOnce(hasStable: Bool) async throws {
    if hasStable { try #require(try await fleet.push(try fleet.manifest(0).path).status == 0) }
    let manifests = try (1...4).map { try fleet.manifest($0) }
    let stand = fleet
    let winners = try await withThrowingTaskGroup(of: (CandidateID, CommandRun).self) { group in
      // A push that begins after another one's end finds a stable manifest, and may add a candidate. So all expect a revision.
      let revision = try await stand.json("status")["revision"]?.int ?? 0
      for manifest in manifests {
        group.addTask { (manifest.id, try await stand.push(manifest.path, "--revision", "\(revision)")) }
      }
      var winners: [CandidateID] = []
      for try await (id, run) in group {
        #expect(run.status == 0 || run.status == 3, "\(run.errors)")
        if run.status == 0 { winners.append(id) }
      }
      return winners
    }
    #expect(winners.count == 1)
    let state = try await fleet.json("status")
    #expect(state[hasStable ? "candidate" : "stable"]?["id"]?.string == winners.first.map { "\($0)" })
    #expect(hasStable || state["candidate"]?.isNull == true)
  }

  @Test("a push against a stale revision fails with both revisions, and changes nothing", .rule("fleet.14"))
  func stalePush() async throws {
    try #require(try await fleet.push(try fleet.manifest(1).path).status == 0)
    let shown = try #require(try await fleet.json("status")["revision"]?.int)
    let pushed = try JSONValue(parsing: try await fleet.push(try fleet.manifest(2).path, "--format", "json").output)
    let changed = try #require(pushed["revision"]?.int)
    let before = try await fleet.values()
    let run = try await fleet.push(try fleet.manifest(3).path, "--replace", "--revision", "\(shown)", "--format", "json")
    #expect(run.status == 3)
    #expect(run.errors.contains("revision \(shown)") && run.errors.contains("revision \(changed)"), "\(run.errors)")
    #expect(try JSONValue(parsing: run.output)["code"] == "conflict")
    #expect(try await fleet.values() == before)
    let current = try await fleet.push(try fleet.manifest(3).path, "--replace", "--revision", "\(changed)")
    #expect(current.status == 0, "\(current.errors)")
  }

  @Test(
    "a key that was removed since the revision counts as a change, also if etcd does not know its history any more",
    .rule("fleet.14"))
  func removedSince() async throws {
    _ = try await rollOut()
    let shown = try #require(try await fleet.json("status")["revision"]?.int)
    try await fleet.json("abort")
    let before = try await fleet.values()
    let three = try fleet.manifest(3)
    let run = try await fleet.push(three.path, "--revision", "\(shown)")
    #expect(run.status == 3 && run.errors.contains("carabiner/shop/candidate was removed by revision"), "\(run.errors)")
    #expect(try await fleet.values() == before)
    let now = try #require(try await fleet.json("status")["revision"]?.int)
    let compaction = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["etcdctl", "--endpoints", "127.0.0.1:\(fleet.server.port)", "compact", "\(now)"])
    try #require(compaction.status == 0, "\(compaction.errors)")
    let old = try await fleet.push(three.path, "--revision", "\(shown)")
    #expect(old.status == 3 && old.errors.contains("revision \(shown) is so old that etcd"), "\(old.errors)")
    #expect(try await fleet.push(three.path, "--revision", "\(now)").status == 0)
  }

  @Test("halt names who and why, resume removes it with the notes of failed nodes", .rule("fleet.14"))
  func haltAndResume() async throws {
    let candidate = try await rollOut()
    for (name, mark) in [("node-1", TrialMark.failed("crashed")), ("node-2", .serving(ends: 0))] {
      try await fleet.put(.taken(candidate, by: try #require(NodeName(name))), mark.bytes)
    }
    try await fleet.report("node-2", .serving, of: candidate)
    let halted = try await fleet.run("halt", "--reason", "errors at checkout")
    #expect(halted.status == 0 && halted.output.contains("\(candidate) is halted"), "\(halted.errors)")
    let halt = try JSONValue(parsing: try #require(try await fleet.value("halt/\(candidate)")))
    #expect(halt["by"] == "operator" && halt["reason"] == "errors at checkout")
    let again = try await fleet.run("halt", "--reason", "another")
    #expect(again.status == 0 && again.output.contains("is halted already"))
    #expect(try await fleet.value("halt/\(candidate)")?.contains("another") == false)
    let promoted = try await fleet.run("promote")
    #expect(promoted.status == 3 && promoted.errors.contains("carabiner fleet resume"), "\(promoted.errors)")
    let status = try await fleet.run("status").output
    #expect(status.contains("halted     by the operator: errors at checkout\n"), "\(status)")
    #expect(status.contains("failed     node-1: crashed\n"), "\(status)")
    #expect(try await fleet.run("resume").status == 0)
    #expect(Set(try await fleet.values().keys) == ["stable", "candidate", "stage/\(candidate)", "taken/\(candidate)/node-2"])
    let none = try await fleet.run("resume")
    #expect(none.status == 3 && none.errors.contains("is not halted"))
  }

  @Test("promote copies the candidate to stable at once, and removes the rest", .rule("fleet.14"))
  func promote() async throws {
    let candidate = try await rollOut()
    try await fleet.put(.taken(candidate, by: try #require(NodeName("node-1"))), TrialMark.serving(ends: 0).bytes)
    let text = try await fleet.value("candidate")
    let run = try await fleet.json("promote")
    #expect(run["effect"] == "promote" && run["manifest"]?.string == "\(candidate)")
    #expect(Set(try await fleet.values().keys) == ["stable"])
    #expect(try await fleet.value("stable") == text)
    let again = try await fleet.run("promote")
    #expect(again.status == 3 && again.errors.contains("there is no candidate to promote"))
  }

  @Test("abort removes candidate, stage, halt and notes, and leaves stable", .rule("fleet.14"))
  func abort() async throws {
    let candidate = try await rollOut()
    let stable = try await fleet.value("stable")
    try await fleet.put(.taken(candidate, by: try #require(NodeName("node-1"))), TrialMark.trying(ends: 0).bytes)
    try await fleet.json("halt")
    try await fleet.json("abort")
    #expect(try await fleet.values() == ["stable": Array(try #require(stable).utf8)])
    for command in ["halt", "resume", "abort"] {
      let run = try await fleet.run(command)
      #expect(run.status == 3 && run.errors.contains("there is no candidate to \(command)"), "\(run.errors)")
    }
  }

  @Test(
    "the first stage is that of the manifest's key fleet, and stages that are not valid are refused",
    .rule("fleet.13", "fleet.14"))
  func plan() async throws {
    try #require(try await fleet.push(try fleet.manifest(1).path).status == 0)
    for index in 0..<8 { try await fleet.report("node-\(index)", .serving) }
    let bad = try await fleet.push(try fleet.manifest(2, "fleet: {stages: [50%, 20%, 100%]}").path)
    #expect(bad.status == 3 && bad.errors.contains("each stage must be larger than the one before"), "\(bad.errors)")
    #expect(Set(try await fleet.values().keys) == ["stable"])
    let planned = try fleet.manifest(3, "fleet: {stages: [25%, 100%], hold: 1m, promote: operator}")
    let run = try await fleet.push(planned.path)
    #expect(run.output.contains("in stage 1 of 2: 25% of 8 nodes"), "\(run.output)\(run.errors)")
    #expect(try await fleet.json("status")["nodes"]?.array?.count { $0["inStage"] == true } == 2)
  }

  @Test("a manifest from a file is refused with unusedSetting if it has the key fleet", .rule("fleet.13"))
  func planOfFile() async throws {
    let path = try fleet.manifest(1, "fleet: {hold: 1m}").path
    let run = try await CommandRun(["check", "-m", path])
    #expect(run.status == 3 && run.errors.contains("\(path):3:"), "\(run.errors)")
    #expect(run.errors.contains("publish it with carabiner fleet push") && run.errors.contains("unusedSetting"), "\(run.errors)")
  }

  @Test("a signature beside the manifest is published, promoted and renewed with it", .rule("fleet.14"))
  func signature() async throws {
    let chain = try await SignedChain("carabiner: 1\n")
    try #require(try await fleet.push(try fleet.manifest(1).path).status == 0)
    let misnamed = try await fleet.push(chain.manifest)
    #expect(misnamed.status == 3 && misnamed.errors.contains("is for manifest:chain, and this fleet needs one for manifest:shop"))
    try await chain.sign(chain.manifest, as: "manifest:shop")
    let signed = try String(contentsOfFile: "\(chain.manifest).release", encoding: .utf8)
    let run = try await fleet.push(chain.manifest)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(try await fleet.value("candidate.release") == signed)
    try await fleet.json("promote")
    #expect(Set(try await fleet.values().keys) == ["stable", "stable.release"])
    #expect(try await fleet.value("stable.release") == signed)
    try await chain.sign(chain.manifest, as: "manifest:shop", serial: 2)
    let renewed = try await fleet.push(chain.manifest)
    #expect(renewed.output.contains("Its new signature is published"), "\(renewed.output)\(renewed.errors)")
    #expect(try await fleet.value("stable.release") == String(contentsOfFile: "\(chain.manifest).release", encoding: .utf8))
    #expect(try await fleet.push(chain.manifest).output.contains("Nothing was changed"))
    try chain.replace(chain.manifest, with: Data("carabiner: 1 # changed\n".utf8))
    let other = try await fleet.push(chain.manifest)
    #expect(other.status == 3 && other.errors.contains("is about another file"), "\(other.errors)")
    #expect(try await fleet.value("candidate") == nil)
  }

  @Test("status shows manifests, stage, halt, and the state of each node, also those that are damaged", .rule("fleet.14"))
  func status() async throws {
    let empty = try await fleet.run("status")
    #expect(empty.status == 0 && empty.output.contains("none; publish one with carabiner fleet push"), "\(empty.errors)")
    #expect(empty.output.contains("no node reports"))
    let candidate = try await rollOut()
    try await fleet.report("gate-1", .serving, of: candidate)
    try await fleet.report("gate-2", .rolledBack, of: candidate, reason: "slow\u{1B}[2J")
    try await fleet.put(.node(try #require(NodeName("gate-3"))), Array("{".utf8))
    try await fleet.put(.taken(candidate, by: try #require(NodeName("gate-9"))), TrialMark.trying(ends: 0).bytes)
    let text = try await fleet.run("status").output
    #expect(text.contains("candidate  \(candidate), ") && text.contains("not signed"), "\(text)")
    #expect(text.contains("gate-1  serving") && text.contains("gate-2  rolled-back"), "\(text)")
    #expect(text.contains("plan       10%, 50%, 100%, each for 10m; a halt after 1 failure\n"), "\(text)")
    #expect(text.contains("2025-11-26T23:33:20Z") && !text.contains("\u{1B}"), "\(text)")
    #expect(text.contains("damaged    carabiner/shop/nodes/gate-3: the report of a node is not JSON"), "\(text)")
    let json = try await fleet.json("status")
    #expect(json["candidate"]?["id"]?.string == "\(candidate)" && json["stage"]?["stage"] == 1 && json["halt"]?.isNull == true)
    #expect(json["plan"]?["stages"] == ["10%", "50%", "100%"] && json["plan"]?["hold"] == "10m")
    #expect(json["nodes"]?.array?.map { $0["name"]?.string } == ["gate-1", "gate-2"])
    #expect(json["nodes"]?[0]?["state"] == "serving" && json["nodes"]?[1]?["state"] == "rolled-back")
    #expect(json["away"]?[0]?["name"] == "gate-9" && json["damaged"]?[0]?["key"] == "carabiner/shop/nodes/gate-3")
  }

  @Test("a manifest with problems is refused before etcd is asked", .rule("fleet.14"))
  func invalidManifest() async throws {
    let path = try fleet.folder.write("carabiner: 1\nunknown: 1\n", to: "bad.yaml")
    fleet.server.end()
    let run = try await fleet.push(path)
    #expect(run.status == 3 && run.output.isEmpty)
    #expect(run.errors.contains("unknownKey"), "\(run.errors)")
    let absent = try await fleet.push(fleet.folder.file("absent.yaml"))
    #expect(absent.status == 3 && absent.errors.contains("cannot be read"), "\(absent.errors)")
    let large = try fleet.folder.write(String(repeating: "#", count: 1 << 20) + "\ncarabiner: 1\n", to: "large.yaml")
    let tooLarge = try await fleet.push(large)
    #expect(tooLarge.status == 3 && tooLarge.errors.contains("1MiB"), "\(tooLarge.errors)")
  }

  @Test("a fleet that is away is exit status 4", .rule("fleet.14"))
  func away() async throws {
    let path = try fleet.manifest(1).path
    fleet.server.end()
    for run in [try await fleet.run("status"), try await fleet.push(path)] {
      #expect(run.status == 4 && run.output.isEmpty)
      #expect(run.errors.contains("etcd cannot be reached"), "\(run.errors)")
    }
  }

  @Test("the fleet may be named by an environment variable, and the option wins", .rule("fleet.14"))
  func environment() async throws {
    let status = ["fleet", "status", "--source-timeout", "60s"]
    let named = try await CommandRun(status, environment: ["CARABINER_FLEET": fleet.address])
    #expect(named.status == 0, "\(named.errors)")
    let option = try await CommandRun(status + ["--to", fleet.address], environment: ["CARABINER_FLEET": "etcd://nowhere"])
    #expect(option.status == 0, "\(option.errors)")
    let none = try await CommandRun(status)
    #expect(none.status == 2 && none.errors.contains("write --to etcd://HOST:PORT/PREFIX, or set CARABINER_FLEET"))
  }
}

@Suite("carabiner fleet: command lines")
struct FleetCommandLineTests {
  @Test(
    "an invalid command line is exit status 2, and says what to write", .rule("fleet.14"),
    arguments: [
      ["status", "--to", "https://etcd:2379/shop"], ["status", "--to", "shop.yaml"], ["status", "--to", "etcd://127.0.0.1:2379"],
      ["status", "--to", "etcd://127.0.0.1/shop"], ["status", "--to", "etcd://u:s3cret@127.0.0.1:2379/shop"],
      ["push", "--to", "etcd://127.0.0.1:1/shop"], ["halt", "--to", "etcd://127.0.0.1:1/shop", "--reason", ""],
      ["halt", "--to", "etcd://127.0.0.1:1/shop", "--revision", "0"],
      ["abort", "--to", "etcd://127.0.0.1:1/shop", "--revision", "x"],
      ["status", "--to", "etcd://127.0.0.1:1/shop", "--source-user", "ops"],
      ["status", "--to", "etcd://127.0.0.1:1/shop", "--source-ca", "ca.pem"],
    ])
  func usage(arguments: [String]) async throws {
    let run = try await CommandRun(["fleet"] + arguments)
    #expect(run.status == 2 && run.output.isEmpty, "\(run.errors)")
    #expect(!run.errors.isEmpty && !run.errors.contains("s3cret"), "\(run.errors)")
  }

  @Test("the help of each command has an example", .rule("fleet.14"))
  func help() async throws {
    for command in ["push", "status", "halt", "resume", "promote", "abort"] {
      let run = try await CommandRun(["fleet", command, "--help"])
      #expect(run.status == 0 && run.output.contains("carabiner fleet \(command) "), "\(run.output)")
    }
  }
}
