import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Signatures of manifests and plugins when they are loaded. They are made by the real ssh-keygen.
@Suite("Signed manifests and plugins")
struct TrustTests {
  @Test("with --trust, signed files are checked, listed, run and served", .rule("signature.4"))
  func accepted() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    let check = try await chain.check()
    #expect(check.status == 0, "\(check.errors)")
    let listing = try await CommandRun(["chain", "-m", chain.manifest, "--trust", chain.trust])
    #expect(listing.status == 0, "\(listing.errors)")
    #expect(listing.output.contains("stamp"))
    let run = try await CommandRun(
      ["run", "-m", chain.manifest, "--trust", chain.trust, "--endpoint", upstream.endpoint, "-"],
      input: #"{ echoHeader(name: "x-stamp-down") }"#)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("one"))
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust])
    #expect(try gateway.query("{ __typename }").head.contains("X-Stamp-Up: one"))
    let settings = try await gateway.ask("status", "--settings").output
    #expect(settings.contains(chain.trust))
  }

  @Test("with --trust, a record is replayed through signed files", .rule("signature.4"))
  func replayed() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    let record = chain.folder.file("traffic.jsonl")
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust, "--record", record])
    _ = try gateway.query(#"query Echo { echoHeader(name: "x-stamp-down") }"#)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    let replay = ["replay", record, "-m", chain.manifest, "--trust", chain.trust, "--requests"]
    let same = try await CommandRun(replay)
    #expect(same.status == 0, "\(same.output)\(same.errors)")
    #expect(same.output.contains("Echo: 1 the same, 0 different"), "\(same.output)")
    try await chain.build("two")
    let other = try await CommandRun(replay)
    #expect(other.status == 3 && other.errors.contains("[pinMismatch]"), "\(other.errors)")
  }

  @Test("without --trust, sidecars are not read", .rule("signature.4"))
  func withoutTrust() async throws {
    let chain = try await SignedChain()
    for file in [chain.manifest, chain.plugin] { try chain.changeSidecar(of: file) { _ in "nothing" } }
    let run = try await CommandRun(["check", "-m", chain.manifest])
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test(
    "each command refuses a manifest or plugin without sidecar", .rule("signature.4", "signature.5"), arguments: [false, true])
  func unsigned(isPlugin: Bool) async throws {
    let chain = try await SignedChain()
    let file = isPlugin ? chain.plugin : chain.manifest
    try FileManager.default.removeItem(atPath: "\(file).release")
    let source = ["-m", chain.manifest, "--trust", chain.trust]
    var commands = [
      ["check"] + source, ["run"] + source + ["--endpoint", "http://127.0.0.1:9/", "-"],
      ["serve"] + source + ["--endpoint", "http://127.0.0.1:9/", "--listen", "127.0.0.1:0"],
      ["call"] + source + ["--endpoint", "http://127.0.0.1:9/", "a.B/C"], ["replay"] + source + ["none.jsonl"],
    ]
    // It reads no files of plugins.
    if !isPlugin { commands.append(["chain"] + source) }
    for command in commands {
      let run = try await CommandRun(command, input: "{ a }")
      #expect(run.status == 3, "\(command): \(run.errors)")
      #expect(run.errors.contains("\(file): \(isPlugin ? "plugin:stamp" : "manifest:chain") has no sidecar"), "\(run.errors)")
      #expect(run.errors.contains("[unsigned]"), "\(run.errors)")
    }
  }

  /// A reason to refuse the plugin's file.
  enum Fault: CaseIterable {
    case otherSize, otherBytes, otherName, otherKind, otherKey, keyForManifests, expiredKey, changedStatement, changedSignature,
      notYetValid, expired, oneOfTwoKeys, largeSidecar, otherPin

    var code: String {
      switch self {
      case .otherSize, .otherBytes, .otherPin: "pinMismatch"
      case .otherName, .otherKind, .changedStatement, .changedSignature, .largeSidecar: "signature"
      case .otherKey, .keyForManifests, .expiredKey, .oneOfTwoKeys: "untrusted"
      case .notYetValid: "notYetValid"
      case .expired: "expired"
      }
    }
  }

  @Test(
    "a plugin is refused with the code of the first check that fails, at its entry", .rule("signature.5"),
    arguments: Fault.allCases)
  func refused(fault: Fault) async throws {
    let chain = try await SignedChain()
    var arguments: [String] = []
    switch fault {
    case .otherSize: try chain.replace(chain.plugin, with: try Data(contentsOf: URL(filePath: chain.plugin)) + [0])
    case .otherBytes:
      var bytes = try Data(contentsOf: URL(filePath: chain.plugin))
      bytes[bytes.count - 1] ^= 1
      try chain.replace(chain.plugin, with: bytes)
    case .otherName: try await chain.sign(chain.plugin, as: "plugin:other")
    case .otherKind: try await chain.sign(chain.plugin, as: "manifest:stamp")
    case .otherKey:
      try await chain.makeKey("stranger")
      try await chain.sign(chain.plugin, as: "plugin:stamp", keys: ["stranger"])
    case .keyForManifests:
      try await chain.makeKey("other")
      try chain.trusting([("plugin:*", "other"), ("manifest:*", "key")])
    case .expiredKey: try chain.trusting([(#"plugin:* valid-before="20200101Z""#, "key"), ("manifest:*", "key")])
    case .changedStatement: try chain.changeSidecar(of: chain.plugin) { $0.replacing("serial 1\n", with: "serial 2\n") }
    case .changedSignature:
      // The last line of the armor has bytes of the signature itself.
      try chain.changeSidecar(of: chain.plugin) { text in
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let line = lines.count - 3
        let first = lines[line].first == "A" ? "B" : "A"
        lines[line] = first + lines[line].dropFirst()
        return lines.joined(separator: "\n")
      }
    case .notYetValid: try await chain.sign(chain.plugin, as: "plugin:stamp", ["--issued", "2200-01-01T00:00:00Z"])
    case .expired: try await chain.sign(chain.plugin, as: "plugin:stamp", ["--issued", "2020-01-01T00:00:00Z"])
    case .oneOfTwoKeys:
      try await chain.makeKey("second")
      try chain.trusting([("*", "key"), ("*", "second")])
      try await chain.sign(chain.manifest, as: "manifest:chain", keys: ["key", "second"])
      // Twice the same key is one key.
      try await chain.sign(chain.plugin, as: "plugin:stamp", keys: ["key", "key"])
      arguments = ["--trust-threshold", "2"]
    case .largeSidecar: try chain.changeSidecar(of: chain.plugin) { $0 + String(repeating: "A", count: 4 << 20) }
    case .otherPin:
      let pin = String(repeating: "0", count: 64)
      let text = SignedChain.text.replacing("file: stamp.so", with: "file: stamp.so, sha256: \"\(pin)\"")
      _ = try chain.folder.write(text, to: "chain.yaml")
      try await chain.sign(chain.manifest, as: "manifest:chain")
    }
    let run = try await chain.check(arguments + ["--format", "json"])
    #expect(run.status == 3)
    let problems = try JSONValue(parsing: run.output)["problems"]?.array ?? []
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?["code"]?.string == fault.code, "\(problems)")
    #expect(problems.first?["pointer"]?.string == (fault == .otherPin ? "/plugins/0/sha256" : "/plugins/0/file"))
    let text = try await chain.check(arguments)
    #expect(text.errors.contains("[\(fault.code)]"), "\(text.errors)")
    #expect(text.errors.contains("chain.yaml:3:"), "\(text.errors)")
  }

  @Test("a manifest is verified before it is parsed", .rule("signature.5"))
  func manifestFirst() async throws {
    let chain = try await SignedChain()
    _ = try chain.folder.write("no: [manifest", to: "chain.yaml")
    let changed = try await chain.check()
    #expect(changed.status == 3)
    #expect(changed.errors.contains("[pinMismatch]") && !changed.errors.contains("[syntax]"), "\(changed.errors)")
    try await chain.sign(chain.manifest, as: "manifest:chain")
    #expect(try await chain.check().errors.contains("[syntax]"))
    try await chain.sign(chain.manifest, as: "manifest:other")
    #expect(try await chain.check().errors.contains("the sidecar is for manifest:other, not for manifest:chain;"))
  }

  @Test("a plugin that is not accepted is neither mapped nor probed, and its contents are not looked at", .rule("signature.5"))
  func notMapped() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    let trace = chain.folder.file("trace")
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust])
    // Its constructor leaves a file.
    try await chain.build("two", "TRACE=\"\(trace)\"")
    for command in [["check"], ["serve", "--endpoint", upstream.endpoint, "--listen", "127.0.0.1:0"]] {
      let run = try await CommandRun(command + ["-m", chain.manifest, "--trust", chain.trust])
      #expect(run.status == 3)
      #expect(run.errors.contains("[pinMismatch]"), "\(run.errors)")
    }
    #expect(try await gateway.ask("reload").status == 3)
    #expect(!FileManager.default.fileExists(atPath: trace))
    // The same file leaves it when it is signed.
    try await chain.sign(chain.plugin, as: "plugin:stamp", serial: 2)
    #expect(try await chain.check().status == 0)
    #expect(FileManager.default.fileExists(atPath: trace))
    try chain.replace(chain.plugin, with: Data("no plugin".utf8))
    let other = try await chain.check()
    #expect(other.errors.contains("[pinMismatch]") && !other.errors.contains("[notELF]"), "\(other.errors)")
  }

  @Test("a reload that is not accepted leaves the serving generation, and the log says why", .rule("signature.5"))
  func reload() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust])
    func stamp() throws -> String? {
      let head = try gateway.query("{ __typename }").head
      return head.first { $0.lowercased().hasPrefix("x-stamp-up: ") }.map { String($0.dropFirst("x-stamp-up: ".count)) }
    }
    try await chain.build("two")
    let refused = try await gateway.ask("reload", "--format", "json")
    #expect(refused.status == 3)
    #expect(refused.output.contains("[pinMismatch]"), "\(refused.output)")
    #expect(gateway.errors.contains("[pinMismatch]"), "\(gateway.errors)")
    #expect(try stamp() == "one")
    #expect(try await gateway.status()["generation"] == 1)
    try await chain.sign(chain.plugin, as: "plugin:stamp", serial: 2)
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try stamp() == "two")
    // The trust file is read at each reload.
    try await chain.makeKey("other")
    try chain.trusting([("*", "other")])
    #expect(try await gateway.ask("reload").errors.contains("[untrusted]") || gateway.errors.contains("[untrusted]"))
    try chain.trusting([("*", "other"), ("*", "key")])
    #expect(try await gateway.ask("reload").status == 0)
  }

  @Test(
    "a gateway reports expiry, refuses older files, and takes one after carabiner trust reset",
    .rule("signature.6", "signature.7"))
  func serials() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    try await chain.sign(chain.plugin, as: "plugin:stamp", serial: 5, ["--expires", "2100-01-01T00:00:00Z"])
    let gateway = try ServeProcess(
      chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust, "--state", chain.folder.file("state")])
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics["carabiner_release_expiry_timestamp_seconds{kind=plugin,name=stamp}"] == 4_102_444_800)
    #expect(metrics.problems == [])
    try await chain.sign(chain.plugin, as: "plugin:stamp", serial: 4)
    let refused = try await gateway.ask("reload", "--format", "json")
    #expect(refused.status == 3)
    #expect(refused.output.contains("[downgrade]"), "\(refused.output)")
    #expect(try await gateway.ask("trust", "reset", "plugin:other").status == 3)
    #expect(try await gateway.ask("trust", "reset", "Not A Name").status == 2)
    let reset = try await gateway.ask("trust", "reset", "stamp")
    #expect(reset.status == 0, "\(reset.errors)")
    #expect(reset.output.contains("plugin:stamp: the serial is forgotten"))
    #expect(gateway.errors.contains("an operator has reset the serial of plugin:stamp"))
    #expect(try await gateway.ask("reload").status == 0)
    // Without state nothing is remembered.
    let other = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust])
    #expect(try await other.ask("trust", "reset", "stamp").status == 3)
  }

  @Test("each command refuses files that --revoked names, and a list that others may write to", .rule("signature.8"))
  func revoked() async throws {
    let chain = try await SignedChain()
    let list = try chain.folder.write("serials-below plugin:stamp 2\n", to: "revoked")
    let source = ["-m", chain.manifest, "--trust", chain.trust, "--revoked", list]
    let commands = [
      ["check"], ["run", "--endpoint", "http://127.0.0.1:9/", "-"], ["serve", "--endpoint", "http://127.0.0.1:9/"],
    ]
    for command in commands {
      let run = try await CommandRun(command + source, input: "{ a }")
      #expect(run.status == 3)
      #expect(run.errors.contains("serials of plugin:stamp below 2 are revoked, and this is 1; use a version"), "\(run.errors)")
    }
    try await chain.sign(chain.plugin, as: "plugin:stamp", serial: 2)
    #expect(try await CommandRun(["check"] + source).status == 0)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: list)
    #expect(try await CommandRun(["check"] + source).errors.contains("[unsafeFile]"))
  }

  @Test("while the keys change, files are signed by the old and the new one", .rule("signature.9"))
  func rotation() async throws {
    let chain = try await SignedChain()
    try await chain.makeKey("new")
    for (file, subject) in [(chain.manifest, "manifest:chain"), (chain.plugin, "plugin:stamp")] {
      try await chain.sign(file, as: subject, keys: ["key", "new"])
    }
    for trusted in [["key"], ["key", "new"], ["new"]] {
      try chain.trusting(trusted.map { ("*", $0) })
      let run = try await chain.check()
      #expect(run.status == 0, "\(trusted): \(run.errors)")
    }
  }

  @Test("with --watch, a sidecar that is replaced makes a new generation", .rule("signature.4"))
  func watched() async throws {
    let chain = try await SignedChain()
    let upstream = try DemoServerProcess()
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--trust", chain.trust, "--watch"])
    let deadline = ContinuousClock.now + .seconds(120)
    // A change before the first poll is not seen as one, so the sidecar changes until a change is seen.
    var serial = 1
    while try await gateway.status()["generation"] == 1, ContinuousClock.now < deadline {
      serial += 1
      try await chain.sign(chain.plugin, as: "plugin:stamp", serial: serial)
      try await Task.sleep(for: .seconds(2))
    }
    #expect(try await gateway.status()["generation"] != 1)
  }

  @Test(
    "options that contradict, and trust files that cannot be used, are refused", .rule("signature.4"), arguments: [0o666, 0o644])
  func options(mode: Int) async throws {
    let chain = try await SignedChain()
    #expect(try await CommandRun(["check", "-m", chain.manifest, "--trust-threshold", "2"]).status == 2)
    #expect(try await chain.check(["--trust-threshold", "5"]).status == 2)
    #expect(try await CommandRun(["check", "-m", chain.manifest, "--revoked", chain.trust]).status == 2)
    #expect(try await CommandRun(["serve", "-m", chain.manifest, "--trust", chain.trust, "--enforce-revocation"]).status == 2)
    #expect(try await CommandRun(["chain", "--admin", "unix:/none", "--trust", chain.trust]).status == 2)
    if mode == 0o644 { _ = try chain.folder.write("plugin:* cert-authority ssh-ed25519 AAAA\n", to: "trust") }
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: chain.trust)
    let run = try await chain.check()
    #expect(run.status == 3)
    #expect(run.errors.contains(mode == 0o644 ? "line 1 of \(chain.trust)" : "[unsafeFile]"), "\(run.errors)")
  }

  @Test("a manifest or a plugin whose name cannot be in a statement is refused with advice", .rule("signature.2"))
  func names() async throws {
    let long = String(repeating: "a", count: 65)
    let chain = try await SignedChain(SignedChain.text.replacing("stamp,", with: "\(long),"))
    let plugin = try await chain.check()
    #expect(plugin.status == 3)
    #expect(plugin.errors.contains("a\"; rename the entry to 1 to 64 of a-z, 0-9 and -"), "\(plugin.errors)")
    let path = try chain.folder.write(SignedChain.text, to: "Chain_1.yaml")
    let manifest = try await CommandRun(["check", "-m", path, "--trust", chain.trust])
    #expect(manifest.status == 3)
    #expect(manifest.errors.contains(#"no statement can have the name "Chain_1"; rename the file"#), "\(manifest.errors)")
  }
}
