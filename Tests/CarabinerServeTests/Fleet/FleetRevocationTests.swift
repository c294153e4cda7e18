import CarabinerFleet
import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// The list of revocations of a fleet: a real etcd, real gateways, and statements that the real ssh-keygen has signed.
@Suite("The list of revocations in etcd")
struct FleetRevocationTests {
  private let fleet: NodeFleet
  private let signed: SignedChain

  init() async throws {
    fleet = try await NodeFleet()
    signed = try await SignedChain()
    try await signed.makeKey("second")
    try signed.trusting([("plugin:*", "key"), ("manifest:*", "key"), ("revoked:*", "key"), ("revoked:*", "second")])
  }

  private var trust: [String] { ["--trust", signed.trust, "--enforce-revocation"] }

  /// Writes a list, and signs it.
  private func list(
    _ text: String, serial: Int, name: String = "prod", _ options: [String] = [], keys: [String] = ["key"]
  ) async throws -> String {
    let path = try signed.folder.write(text, to: "revoked")
    try await signed.sign(path, as: "revoked:\(name)", serial: serial, options, keys: keys)
    return path
  }

  /// Puts a list into etcd, without the checks of `carabiner fleet revoke`.
  private func put(_ text: String, serial: Int, _ options: [String] = [], keys: [String] = ["key"]) async throws {
    let path = try await list(text, serial: serial, options, keys: keys)
    try await fleet.put(.revokedRelease, Array(try Data(contentsOf: URL(filePath: "\(path).release"))))
    try await fleet.put(.revoked, Array(text.utf8))
  }

  private func push(_ version: String, serial: Int, keys: [String] = ["key"]) async throws {
    let more = """
      serve: {return-headers: [x-stamp-*]}
      plugins: [{name: stamp, file: \(signed.plugin)}]
      chain: {http: [stamp, response-code]}
      fleet: {stages: [100%]}
      """
    let path = try signed.folder.write(EtcdChain.text(version, more), to: "prod.yaml")
    try await signed.sign(path, as: "manifest:prod", serial: serial, keys: keys)
    try await fleet.fleet("push", "-m", path)
  }

  /// Runs `carabiner fleet revoke`.
  private func revoke(_ path: String) async throws -> CommandRun {
    try await CommandRun(["fleet", "revoke", path, "--to", fleet.chain.address, "--source-timeout", "60s"])
  }

  /// A line that revokes the second key.
  private func secondKey() async throws -> String {
    let run = try await ToolRun(
      URL(filePath: "/usr/bin/env"), ["ssh-keygen", "-l", "-f", signed.folder.file("second.pub")])
    return "key \(run.output.split(separator: " ")[1])"
  }

  /// Waits until the plugin is on or off.
  private func stamps(_ stamp: String, at node: ServeProcess) async throws -> Bool {
    await eventually { try node.stamp() == stamp }
  }

  @Test(
    "a published list switches a plugin off on all nodes at once, and an empty list with a higher serial on again",
    .rule("signature.8"))
  func published() async throws {
    try await push("1", serial: 1)
    let nodes = try await fleet.start(["node-a", "node-b"], trust: trust)
    for node in nodes.values { #expect(try node.stamp() == "one") }
    let published = try await fleet.fleet("revoke", try await list("serials-below plugin:stamp 2\n", serial: 1))
    #expect(published["effect"] == "revoked" && published["serial"] == 1 && published["entries"] == 1)
    for node in nodes.values {
      #expect(try await stamps("none", at: node), "\(node.errors)")
      #expect(node.errors.contains("a revoked file is in use: serials of plugin:stamp below 2 are revoked"))
      let metrics = try await ToolRun(
        URL(filePath: "/usr/bin/curl"), ["-sS", "--fail", "--unix-socket", node.socket, "http://x/metrics"]
      ).output
      #expect(metrics.contains("carabiner_revoked_in_use 1"), "\(metrics)")
      #expect(metrics.contains(#"carabiner_release_expiry_timestamp_seconds{kind="revoked",name="prod"}"#), "\(metrics)")
    }
    let status = try await fleet.fleet("status")
    #expect(status["revoked"]?["serial"] == 1 && status["revoked"]?["entries"] == 1, "\(status)")
    try await fleet.fleet("revoke", try await list("# nothing\n", serial: 2))
    for node in nodes.values { #expect(try await stamps("one", at: node), "\(node.errors)") }
  }

  @Test("a manifest with a revoked plugin is refused by the list in etcd", .rule("signature.8"))
  func candidate() async throws {
    try await push("1", serial: 1)
    let node = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    try await fleet.fleet("revoke", try await list("serials-below manifest:prod 3\n", serial: 1))
    #expect(try await node.logs("a revoked file is in use"), "\(node.errors)")
    try await push("2", serial: 2)
    #expect(try await node.logs("[revoked]"), "\(node.errors)")
    #expect(try node.version() == "1")
    try await fleet.fleet("abort")
    try await push("3", serial: 3)
    #expect(try await node.serves("3"), "\(node.errors)")
  }

  /// A reason to refuse a list.
  enum Fault: String, CaseIterable {
    case unsigned, signature, pinMismatch, untrusted, expired, downgrade, unreadable, revoked, invalidFile
  }

  @Test(
    "while the list is not accepted, the last one counts, and manifests are refused", .rule("signature.8"),
    arguments: Fault.allCases)
  func refused(fault: Fault) async throws {
    try await push("1", serial: 1)
    let node = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    let revoked = "serials-below plugin:stamp 2\n\(try await secondKey())\n"
    try await fleet.fleet("revoke", try await list(revoked, serial: 5))
    #expect(try await stamps("none", at: node), "\(node.errors)")
    switch fault {
    case .unsigned: try await fleet.chain.remove("revoked.release")
    case .signature: try await fleet.put(.revokedRelease, Array("nothing\n".utf8))
    case .pinMismatch: try await fleet.put(.revoked, Array("# nothing\n".utf8))
    case .untrusted:
      try await signed.makeKey("third")
      try await put("# nothing\n", serial: 6, keys: ["third"])
    case .expired:
      try await put(
        "serials-below manifest:prod 2\n", serial: 6, ["--issued", "2026-01-01T00:00:00Z", "--expires", "2026-02-01T00:00:00Z"])
    case .downgrade: try await put("# nothing\n", serial: 4)
    case .unreadable: for key in ["revoked", "revoked.release"] { try await fleet.chain.remove(key) }
    case .revoked: try await put("# nothing\n", serial: 6, keys: ["second"])
    case .invalidFile: try await put("nonsense\n", serial: 6)
    }
    #expect(
      await eventually {
        let reload = try await node.ask("reload")
        return reload.status == 3 && reload.output.contains("\(fleet.chain.address)/revoked")
          && reload.output.contains("[\(fault.rawValue)]")
      }, "\(node.errors)")
    #expect(try await node.logs("reloads are refused because of the list of revocations"), "\(node.errors)")
    #expect(try node.stamp() == "none")
    // The entries of an expired list count too.
    if fault == .expired {
      #expect(try await node.logs("serials of manifest:prod below 2 are revoked"), "\(node.errors)")
      #expect(try node.stamp() == "none")
    }
    try await fleet.fleet("revoke", try await list("# nothing\n", serial: 7))
    #expect(try await stamps("one", at: node), "\(node.errors)")
    #expect(try await node.ask("reload").status == 0)
  }

  @Test(
    "a node that starts again has not forgotten the list: an older one is refused, and so is none, until trust reset",
    .rule("signature.8"))
  func restarted() async throws {
    try await push("1", serial: 1)
    let first = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    try await fleet.fleet("revoke", try await list("serials-below plugin:other 2\n", serial: 2))
    let kept = fleet.chain.folder.file("state-node-a/revoked")
    #expect(await eventually { FileManager.default.fileExists(atPath: kept) })
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    try await put("# nothing\n", serial: 1)
    // The last good manifest serves, with the list that was kept.
    let second = try fleet.start("node-a", trust: trust)
    #expect(second.errors.contains("[downgrade]"), "\(second.errors)")
    #expect(try second.version() == "1" && second.stamp() == "one")
    for key in ["revoked", "revoked.release"] { try await fleet.chain.remove(key) }
    #expect(await eventually { try await second.ask("reload").output.contains("was removed, and had the serial 2") })
    #expect(try await second.ask("trust", "reset", "revoked:prod").status == 0)
    #expect(!FileManager.default.fileExists(atPath: kept))
    #expect(try await second.ask("trust", "reset", "revoked:prod").status == 3)
    #expect(try await second.ask("reload").status == 0)
  }

  @Test("a node with a damaged file of the list that was kept does not start, and says how to go on", .rule("signature.8"))
  func damagedFile() async throws {
    try await push("1", serial: 1)
    let first = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    try await fleet.fleet("revoke", try await list("serials-below plugin:stamp 2\n", serial: 1))
    #expect(try await stamps("none", at: first), "\(first.errors)")
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    let kept = fleet.chain.folder.file("state-node-a/revoked")
    let bytes = try Data(contentsOf: URL(filePath: kept))
    for damaged in [Data(), bytes.dropLast(), Data(#"{"list":"","sidecar":""}"#.utf8)] {
      try Data(damaged).write(to: URL(filePath: kept))
      let refused = #expect(throws: ServeProcess.DidNotStart.self) { try fleet.start("node-a", trust: trust) }
      let errors = refused?.errors ?? ""
      #expect(errors.contains("\(kept) cannot be used; restore it from a backup, or remove it"), "\(errors)")
    }
  }

  @Test(
    "a list that could not be kept is written when the disk permits it, and manifests are refused until then",
    .rule("signature.8"))
  func fullDisk() async throws {
    try await push("1", serial: 1)
    let node = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    // A folder in place of the file: replacing it fails.
    let kept = fleet.chain.folder.file("state-node-a/revoked")
    try FileManager.default.createDirectory(atPath: "\(kept)/x", withIntermediateDirectories: true)
    try await fleet.fleet("revoke", try await list("serials-below plugin:stamp 2\n", serial: 1))
    #expect(try await stamps("none", at: node), "\(node.errors)")
    for _ in 0..<3 { #expect(try await node.ask("reload").status == 3) }
    // Also while the source has another list, which is not accepted.
    try await fleet.chain.remove("revoked.release")
    try FileManager.default.removeItem(atPath: kept)
    #expect(
      await eventually {
        _ = try await node.ask("reload")
        return (try? String(contentsOfFile: kept, encoding: .utf8))?.contains("serials-below plugin:stamp 2") == true
      }, "\(node.errors)")
    try await fleet.fleet("revoke", try await list("# nothing\n", serial: 2))
    #expect(try await stamps("one", at: node), "\(node.errors)")
    #expect(try await node.ask("reload").status == 0)
    #expect(try String(contentsOfFile: kept, encoding: .utf8).contains("# nothing"))
  }

  @Test("with --trust-threshold 2, two keys must have signed the list", .rule("signature.8"))
  func threshold() async throws {
    let principals = "plugin:*,manifest:*,revoked:*"
    try signed.trusting([(principals, "key"), (principals, "second")])
    try await signed.sign(signed.plugin, as: "plugin:stamp", keys: ["key", "second"])
    try await push("1", serial: 1, keys: ["key", "second"])
    let node = try fleet.start("node-a", ["--trust-threshold", "2"], trust: trust)
    try await put("serials-below plugin:stamp 2\n", serial: 1)
    #expect(await eventually { try await node.ask("reload").output.contains("[untrusted]") }, "\(node.errors)")
    #expect(try node.stamp() == "one")
    try await put("serials-below plugin:stamp 2\n", serial: 1, keys: ["key", "second"])
    #expect(try await stamps("none", at: node), "\(node.errors)")
  }

  @Test("an expired list counts against the next one: its keys sign none, and its serial must be exceeded", .rule("signature.8"))
  func expiredFirst() async throws {
    try await push("1", serial: 1)
    let node = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    try await put(
      "serials-below plugin:stamp 2\n\(try await secondKey())\n", serial: 6,
      ["--issued", "2026-01-01T00:00:00Z", "--expires", "2026-02-01T00:00:00Z"])
    #expect(try await stamps("none", at: node), "\(node.errors)")
    try await put("# nothing\n", serial: 7, keys: ["second"])
    #expect(await eventually { try await node.ask("reload").output.contains("[revoked]") }, "\(node.errors)")
    try await put("# nothing\n", serial: 5)
    #expect(await eventually { try await node.ask("reload").output.contains("[downgrade]") }, "\(node.errors)")
    #expect(try node.stamp() == "none")
    try await put("# nothing\n", serial: 7)
    #expect(try await stamps("one", at: node), "\(node.errors)")
  }

  @Test("a key of --revoked signs no list", .rule("signature.8"))
  func keys() async throws {
    try await push("1", serial: 1)
    let revoked = try signed.folder.write("\(try await secondKey())\n", to: "local")
    let node = try fleet.start("node-a", ["--revoked", revoked], trust: trust)
    try await put("serials-below plugin:stamp 2\n", serial: 1, keys: ["second"])
    #expect(await eventually { try await node.ask("reload").output.contains("[revoked]") }, "\(node.errors)")
    #expect(try node.stamp() == "one")
    try await put("serials-below plugin:stamp 2\n", serial: 1, keys: ["key", "second"])
    #expect(try await stamps("none", at: node), "\(node.errors)")
  }

  @Test("without etcd, a node does not start with a plugin that the kept list revokes", .rule("signature.8"))
  func away() async throws {
    try await push("1", serial: 1)
    let first = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    try await fleet.fleet("revoke", try await list("serials-below plugin:stamp 2\n", serial: 1))
    #expect(try await stamps("none", at: first), "\(first.errors)")
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    fleet.chain.server.end()
    let refused = #expect(throws: ServeProcess.DidNotStart.self) {
      try fleet.start("node-a", ["--source-timeout", "1s"], trust: trust)
    }
    #expect(refused?.errors.contains("serials of plugin:stamp below 2 are revoked") == true, "\(refused?.errors ?? "")")
  }

  @Test("a list of 1 MiB is published, kept and read again", .rule("signature.8"))
  func large() async throws {
    try await push("1", serial: 1)
    let first = try #require(try await fleet.start(["node-a"], trust: trust)["node-a"])
    // The characters that are longest in JSON.
    let line = "#" + String(repeating: "\\", count: 127) + "\n"
    let text = "serials-below plugin:stamp 2\n" + String(repeating: line, count: (1 << 20) / line.utf8.count - 1)
    try await fleet.fleet("revoke", try await list(text, serial: 1))
    #expect(try await stamps("none", at: first), "\(first.errors)")
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    try await fleet.fleet("revoke", try await list("# nothing\n", serial: 2))
    #expect(try await stamps("one", at: try fleet.start("node-a", trust: trust)))
  }

  @Test("carabiner fleet revoke refuses what nodes would refuse, and repeats nothing", .rule("signature.8"))
  func command() async throws {
    let path = try await list("serials-below plugin:stamp 2\n", serial: 2)
    let first = try await revoke(path)
    #expect(first.status == 0 && first.output.contains("with serial 2 and 1 entry, valid until "), "\(first.errors)")
    let again = try await revoke(path)
    #expect(again.status == 0 && again.output.contains("is published already. Nothing was changed."), "\(again.output)")
    func refused(_ message: String) async throws {
      let before = try await fleet.state().revocations
      let run = try await revoke(path)
      #expect(run.status == 3 && run.output.isEmpty && run.errors.contains(message), "\(run.errors)")
      #expect(try await fleet.state().revocations == before)
    }
    _ = try await list("# nothing\n", serial: 1)
    try await refused("has the serial 1, and the published list has 2; sign the list with a higher serial")
    _ = try await list("# nothing\n", serial: 2)
    try await refused("has the serial 2, and the published list has 2; sign the list with a higher serial")
    _ = try await list("# nothing\n", serial: 3, name: "shop")
    try await refused("is for revoked:shop, and this fleet needs one for revoked:prod")
    _ = try await list("# nothing\n", serial: 3, ["--issued", "2026-01-01T00:00:00Z", "--expires", "2026-02-01T00:00:00Z"])
    try await refused("expired at 2026-02-01T00:00:00Z")
    _ = try await list("# nothing\n", serial: 3, ["--issued", "2100-01-01T00:00:00Z", "--expires", "2100-02-01T00:00:00Z"])
    try await refused("was issued at 2100-01-01T00:00:00Z, and it is 20")
    _ = try await list("nonsense\n", serial: 3)
    try await refused("line 1 of \(path) cannot be used")
    _ = try await list("# nothing\n", serial: 3)
    _ = try signed.folder.write("# other\n", to: "revoked")
    try await refused("is about other bytes than those of \(path)")
    try FileManager.default.removeItem(atPath: "\(path).release")
    try await refused("release does not exist, and nodes do not accept a list without signature")
    let status = try await CommandRun(["fleet", "status", "--to", fleet.chain.address])
    #expect(status.output.contains("revoked    1 entry, serial 2, valid until "), "\(status.output)")
    // A user with write access to etcd only can publish any serial.
    try await put("# forged\n", serial: 1 << 53)
    _ = try await list("# nothing\n", serial: 3)
    try await refused("if the nodes do not accept the published one, publish this with --replace")
    let replaced = try await CommandRun(["fleet", "revoke", path, "--replace", "--to", fleet.chain.address])
    #expect(replaced.status == 0, "\(replaced.errors)")
    try await put("# old\n", serial: 3, ["--issued", "2026-01-01T00:00:00Z", "--expires", "2026-02-01T00:00:00Z"])
    let expired = try await CommandRun(["fleet", "status", "--to", fleet.chain.address])
    #expect(expired.output.contains("serial 3, expired at 2026-02-01T00:00:00Z, so nodes"), "\(expired.output)")
    try await fleet.put(.revokedRelease, Array("nothing".utf8))
    let damaged = try await CommandRun(["fleet", "status", "--to", fleet.chain.address])
    #expect(damaged.output.contains("revoked    a list that cannot be read, or without a statement"), "\(damaged.output)")
  }

  @Test("--enforce-revocation needs a list: --revoked, or a manifest from etcd with --trust", .rule("signature.8"))
  func options() async throws {
    for source in ["chain.yaml", "https://127.0.0.1:9/chain.yaml"] {
      let run = try await CommandRun(
        ["serve", "-m", source, "--state", signed.folder.file("state"), "--listen", "127.0.0.1:0"] + trust)
      #expect(run.status == 2 && run.errors.contains("--enforce-revocation needs --revoked FILE, or a manifest from etcd with"))
    }
  }
}
