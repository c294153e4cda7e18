import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Gateways with a manifest from a real etcd.
@Suite("A manifest from etcd")
struct EtcdSourceTests {
  @Test("a change of the key loads a new generation, and each load without --trust is warned of", .rule("fleet.1"))
  func change() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let gateway = try chain.serve()
    #expect(try gateway.version() == "1")
    #expect(gateway.errors.contains("the manifest is not signed"))
    let published = try await chain.put(EtcdChain.text("2"))
    #expect(try await gateway.serves("2"))
    // A generation serves a moment before its reload is reported.
    let isReported = await eventually {
      try await gateway.status()["lastReload"]?["trigger"]?.string == "change at the source"
    }
    #expect(isReported)
    let status = try await gateway.status()
    #expect(status["manifest"]?.string == chain.address)
    #expect(status["source"]?["up"] == true && status["source"]?["stale"] == false)
    // The reports of the node are changes too.
    let text = try await gateway.ask("status").output
    let revision = text.firstMatch(of: /source       answers, revision (\d+)/).flatMap { Int64($0.1) }
    #expect(revision ?? 0 >= published, "\(text)")
    #expect(gateway.errors.components(separatedBy: "the manifest is not signed").count == 3)
  }

  @Test("a new plugin of the manifest is loaded in a child process first", .rule("fleet.1"))
  func plugin() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let gateway = try chain.serve()
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile("stamp", defining: ["STAMP=\"one\""], into: place, name: "stamp.so")
    let more = """
      serve: {return-headers: [x-stamp-*]}
      plugins: [{name: stamp, file: \(plugin)}]
      chain: {http: [stamp, response-code]}
      """
    try await chain.put(EtcdChain.text("2", more))
    #expect(try await gateway.serves("2"))
    #expect(try gateway.stamp() == "one")
    // The copy for the child process is removed.
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: chain.folder.file("state")).filter { $0.hasPrefix("candidate") } == [])
  }

  @Test(
    "a gateway serves what carabiner fleet push and promote publish, also with the key fleet and a new plugin", .rule("fleet.14"))
  func pushed() async throws {
    let chain = try await EtcdChain()
    func fleet(_ command: String, _ arguments: [String] = []) async throws {
      let run = try await CommandRun(["fleet", command, "--to", chain.address, "--source-timeout", "60s"] + arguments)
      #expect(run.status == 0, "\(command): \(run.errors)")
    }
    let file = try chain.folder.write(EtcdChain.text("1"), to: "prod.yaml")
    try await fleet("push", ["-m", file])
    let gateway = try chain.serve()
    #expect(try gateway.version() == "1")
    let place = try FixturePlugin.Folder()
    let plugin = try await FixturePlugin.compile("stamp", defining: ["STAMP=\"one\""], into: place, name: "stamp.so")
    let more = """
      fleet: {stages: [50%, 100%]}
      serve: {return-headers: [x-stamp-*]}
      plugins: [{name: stamp, file: \(plugin)}]
      chain: {http: [stamp, response-code]}
      """
    _ = try chain.folder.write(EtcdChain.text("2", more), to: "prod.yaml")
    try await fleet("push", ["-m", file])
    try await fleet("promote")
    #expect(try await gateway.serves("2"))
    #expect(try gateway.stamp() == "one")
  }

  @Test("a value that cannot be used is refused with its place, and the generation that serves goes on", .rule("fleet.6"))
  func refused() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let gateway = try chain.serve()
    let values = [
      ("plugins: [{name: stamp, file: stamp.so}]", "/plugins/0/file (line 2, column 25): this manifest is not in a folder"),
      ("headers: {x-key: '${file:key}'}", "/headers/x-key (line 2, column 11): this manifest is not in a folder"),
      (
        "plugins: [{name: stamp, ffi: {library: ./l.so, function: f, returns: int32}}]",
        "/plugins/0/ffi/library (line 2, column 31): this manifest is"
      ),
      ("carabiner: 1\n  a: b", "[syntax]"), ("carabiner: 2", "[unsupportedVersion]"),
      (String(repeating: "# 9 bytes\n", count: 120_000), "more than 1048576 bytes"),
    ]
    var serving = "1"
    for (index, (value, reason)) in values.enumerated() {
      try await chain.put(index < 3 ? "carabiner: 1\n\(value)\n" : value)
      #expect(try await gateway.logs(reason), "\(value.prefix(80)): \(gateway.errors)")
      #expect(try gateway.version() == serving)
      serving = "1.\(index)"
      try await chain.put(EtcdChain.text(serving))
      #expect(try await gateway.serves(serving))
      #expect(
        await eventually { try await gateway.status()["lastReload"]?["outcome"]?.string == "accepted" }, "\(value.prefix(80))"
      )
    }
    #expect(gateway.errors.contains("write an absolute path or url:"))
  }

  @Test(
    "a start without an answer fails with 4 if there is no last good manifest, and serves it if there is one", .rule("fleet.7"))
  func away() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let first = try chain.serve()
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    chain.server.end()
    let timeout = ["--allow-unsigned", "--source-timeout", "1s"]
    let absent = #expect(throws: ServeProcess.DidNotStart.self) {
      try ServeProcess(
        chain.folder, source: chain.address, endpoint: chain.upstream.endpoint, ["--state", chain.folder.file("other")] + timeout)
    }
    #expect(absent?.status == 4)
    #expect(absent?.errors.contains("etcd cannot be reached") == true, "\(absent?.errors ?? "")")

    let gateway = try chain.serve(timeout)
    #expect(try gateway.version() == "1")
    #expect(gateway.errors.contains("the last known good manifest serves"))
    var metrics = try await ScrapedMetrics(gateway)
    #expect(metrics["carabiner_source_up{}"] == 0 && metrics["carabiner_source_stale{}"] == 1)
    #expect(try await gateway.ask("status").output.contains("the last good manifest serves"))

    try await chain.server.restart()
    try await chain.put(EtcdChain.text("2"))
    #expect(try await gateway.serves("2"))
    metrics = try await ScrapedMetrics(gateway)
    #expect(metrics.problems.isEmpty, "\(metrics.problems)")
    #expect(metrics["carabiner_source_stale{}"] == 0)
    #expect((metrics["carabiner_source_errors_total{kind=unavailable}"] ?? 0) > 0)
  }

  @Test("the manifest stays when its key is removed and when etcd ends, and metrics say so", .rule("fleet.7", "fleet.8"))
  func removed() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let gateway = try chain.serve()
    #expect(await eventually { try await ScrapedMetrics(gateway)["carabiner_source_up{}"] == 1 })
    #expect(try await ScrapedMetrics(gateway)["carabiner_source_revision{}"] == 2)
    try await chain.remove()
    #expect(try await gateway.logs("etcd has no key \(EtcdChain.prefix)/stable"))
    #expect(try gateway.version() == "1")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.version() == "1")
    chain.server.end()
    #expect(await eventually { try await ScrapedMetrics(gateway)["carabiner_source_up{}"] == 0 })
    #expect(try gateway.version() == "1")
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics["carabiner_source_errors_total{kind=missing}"] == 1)
    #expect(metrics["carabiner_source_stale{}"] == 0)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
  }

  @Test("a start with an empty prefix ends with 4 at once", .rule("fleet.7"))
  func empty() async throws {
    let chain = try await EtcdChain()
    let absent = #expect(throws: ServeProcess.DidNotStart.self) {
      try chain.serve(["--allow-unsigned", "--source-timeout", "10m"])
    }
    #expect(absent?.status == 4)
    #expect(absent?.errors.contains("publish a manifest") == true, "\(absent?.errors ?? "")")
  }

  @Test(
    "with --trust, a value needs its sidecar in the key with .release, and the last good one needs none of etcd", .rule("fleet.1")
  )
  func signed() async throws {
    let chain = try await EtcdChain()
    let signed = try await SignedChain()
    func publish(_ version: String, serial: Int) async throws {
      let text = EtcdChain.text(version)
      _ = try signed.folder.write(text, to: "prod.yaml")
      try await signed.sign(signed.folder.file("prod.yaml"), as: "manifest:prod", serial: serial)
      let sidecar = try String(contentsOfFile: signed.folder.file("prod.yaml.release"), encoding: .utf8)
      // The sidecar first: it belongs to the next value.
      try await chain.put(sidecar, to: "stable.release")
      try await chain.put(text)
    }
    try await publish("1", serial: 1)
    let trust = ["--trust", signed.trust]
    let gateway = try chain.serve(trust)
    #expect(try gateway.version() == "1")
    try await chain.put(EtcdChain.text("forged"))
    #expect(try await gateway.logs("[pinMismatch]"), "\(gateway.errors)")
    #expect(try gateway.version() == "1")
    try await publish("2", serial: 2)
    #expect(try await gateway.serves("2"))
    try await chain.remove("stable.release")
    #expect(try await gateway.logs("[unsigned]"), "\(gateway.errors)")
    #expect(try gateway.version() == "2")
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    chain.server.end()
    let again = try chain.serve(trust + ["--source-timeout", "1s"])
    #expect(try again.version() == "2")
  }

  @Test("a source that is not a file needs --state, and --trust or --allow-unsigned")
  func options() async throws {
    let source = ["serve", "-m", "etcd://127.0.0.1:9/p", "--listen", "127.0.0.1:0"]
    let folder = try StoreFolder()
    let cases: [([String], String)] = [
      (["--allow-unsigned"], "needs --state DIR"), (["--state", folder.path], "--allow-unsigned accepts that"),
      (["--state", folder.path, "--allow-unsigned", "--source-user", "u"], "--source-password-file go together"),
      (["--state", folder.path, "--allow-unsigned", "--source-certificate", "c"], "--source-key go together"),
      (["--state", folder.path, "--allow-unsigned", "--source-interval", "10ms"], "at least 1s"),
      (["--state", folder.path, "--allow-unsigned", "--source-ca", "/none"], "certificates are for etcds://"),
      (
        ["--state", folder.path, "--allow-unsigned", "--source-user", "u", "--source-password-file", "/none"],
        "/none, cannot be read"
      ),
    ]
    for (options, reason) in cases {
      let run = try await CommandRun(source + options)
      #expect(run.status == 2, "\(options): \(run.errors)")
      #expect(run.errors.contains(reason), "\(options): \(run.errors)")
    }
    let address = try await CommandRun(["serve", "-m", "etcd://127.0.0.1/p", "--state", folder.path, "--allow-unsigned"])
    #expect(address.status == 2 && address.errors.contains("HOST:PORT"), "\(address.errors)")
    let other = try await CommandRun(["check", "-m", "etcd://127.0.0.1:9/p"])
    #expect(other.status == 3 && other.errors.contains("carabiner serve"), "\(other.errors)")
  }

  @Test("each option can be an environment variable, and an option wins", .rule("fleet.1"))
  func environment() async throws {
    let chain = try await EtcdChain()
    try await chain.put(EtcdChain.text("1"))
    let gateway = try ServeProcess(
      chain.folder, source: chain.address, endpoint: chain.upstream.endpoint,
      chain.state + ["--allow-unsigned", "--source-timeout", "60s"], environment: ["CARABINER_SOURCE_TIMEOUT": "none"])
    #expect(try gateway.version() == "1")
    let bad = #expect(throws: ServeProcess.DidNotStart.self) {
      try ServeProcess(
        chain.folder, source: chain.address, endpoint: nil, ["--state", chain.folder.file("b"), "--allow-unsigned"],
        environment: ["CARABINER_SOURCE_TIMEOUT": "none"])
    }
    #expect(
      bad?.status == 2 && bad?.errors.contains("CARABINER_SOURCE_TIMEOUT is not a duration") == true, "\(bad?.errors ?? "")")
  }
}
