import CarabinerWire
import CommandTools
import Foundation
import TestTools
import Testing

/// Plugins that a manifest names by URL, with the real command.
@Suite("Plugins from URLs")
struct DownloadedPluginTests {
  @Test("check downloads a plugin once, and loads it", .rule("fleet.9", "fleet.10"))
  func check() async throws {
    let chain = try await PublishedChain()
    for _ in 0..<2 {
      let run = try await CommandRun(["check"] + chain.options)
      #expect(run.status == 0, "\(run.errors)")
      #expect(run.errors.isEmpty, "\(run.errors)")
    }
    #expect(try await chain.server.requests(1).map(\.authorization) == ["Bearer \(PublishedChain.token)"])
  }

  @Test("check reports a wrong digest and a missing file with line and column, and no secret", .rule("fleet.9", "fleet.10"))
  func faults() async throws {
    let chain = try await PublishedChain()
    let digest = String(repeating: "0", count: 64)
    try chain.use("one", digest: digest)
    let mismatch = try await CommandRun(["check"] + chain.options)
    #expect(mismatch.status == 3)
    #expect(
      mismatch.errors.hasPrefix("\(chain.manifest):9:5: error: /plugins/0/url: the file at \(chain.server.origin)/one.so"),
      "\(mismatch.errors)")
    #expect(mismatch.errors.contains("not \(digest)") && mismatch.errors.contains("[pinMismatch]"), "\(mismatch.errors)")
    try chain.use("absent", digest: digest)
    let absent = try await CommandRun(["check"] + chain.options)
    #expect(absent.status == 3)
    #expect(
      absent.errors.contains("status 404; publish the file") && absent.errors.contains("[downloadFailed]"), "\(absent.errors)")
    #expect(!(mismatch.errors + absent.errors).contains(PublishedChain.token))
    #expect(try FileManager.default.contentsOfDirectory(atPath: chain.cache).isEmpty)
  }

  @Test("a reference to an OCI registry is refused; the message says which URLs are used", .rule("fleet.11"))
  func registry() async throws {
    let folder = try StoreFolder()
    let digest = String(repeating: "0", count: 64)
    let path = try folder.write(
      """
      carabiner: 1
      endpoint: http://127.0.0.1:1/graphql
      plugins: [{name: a, url: "oci://registry.test/shop/a:1", sha256: "\(digest)"}]
      """, to: "registry.yaml")
    let run = try await CommandRun(["check", "-m", path, "--plugin-cache", folder.file("cache")])
    #expect(run.status == 3)
    #expect(run.errors.contains("registry.yaml:3:"), "\(run.errors)")
    #expect(
      run.errors.contains("only https is used for downloads; write a URL that begins with https:// [invalidValue]"),
      "\(run.errors)")
  }

  @Test("each command that loads plugins needs a folder for them", .rule("fleet.10"))
  func noFolder() async throws {
    let chain = try await PublishedChain()
    let (source, endpoint) = (["-m", chain.manifest], ["--endpoint", "http://127.0.0.1:9/"])
    let commands = [
      ["check"] + source, ["run"] + source + endpoint + ["-"], ["serve"] + source + endpoint + ["--listen", "127.0.0.1:0"],
      ["call"] + source + endpoint + ["a.B/C"], ["replay"] + source + ["none.jsonl"],
    ]
    for command in commands {
      let run = try await CommandRun(command, input: "{ a }")
      #expect(run.status == 3, "\(command): \(run.errors)")
      #expect(run.errors.contains("give --plugin-cache DIR, or --state DIR to carabiner serve"), "\(command): \(run.errors)")
    }
    // It loads no plugin.
    let listing = try await CommandRun(["chain"] + source)
    #expect(listing.status == 0 && listing.output.contains("stamp"), "\(listing.errors)")
    #expect(chain.server.requests.isEmpty)
  }

  @Test("run and replay load the downloaded plugin", .rule("fleet.9", "fleet.10"))
  func others() async throws {
    let chain = try await PublishedChain()
    let upstream = try DemoServerProcess()
    let run = try await CommandRun(
      ["run"] + chain.options + ["--endpoint", upstream.endpoint, "-"], input: #"{ echoHeader(name: "x-stamp-down") }"#)
    #expect(run.status == 0 && run.output.contains("one"), "\(run.output)\(run.errors)")
    let record = chain.folder.file("traffic.jsonl")
    let gateway = try ServeProcess(
      chain.folder, endpoint: upstream.endpoint, ["--plugin-cache", chain.cache, "--record", record])
    _ = try gateway.query(#"query Echo { echoHeader(name: "x-stamp-down") }"#)
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    let replay = try await CommandRun(["replay", record, "--requests"] + chain.options)
    #expect(replay.status == 0 && replay.output.contains("Echo: 1 the same, 0 different"), "\(replay.output)\(replay.errors)")
    #expect(try await chain.server.requests(1).count == 1)
  }

  @Test("a reload loads a new URL; a download that fails keeps the generation that serves", .rule("fleet.10"))
  func reload() async throws {
    let chain = try await PublishedChain()
    let upstream = try DemoServerProcess()
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--state", chain.folder.file("state")])
    #expect(try gateway.stamp() == "one")
    let digest = try await chain.publish("two")
    try chain.use("two", digest: digest)
    let reload = try await gateway.ask("reload")
    #expect(reload.status == 0, "\(reload.errors)")
    #expect(reload.output.contains("/one.so becomes \(chain.server.origin)/two.so, sha256"), "\(reload.output)")
    #expect(try gateway.stamp() == "two")
    #expect(FileManager.default.fileExists(atPath: chain.folder.file("state/plugins/\(digest).so")))
    _ = try await chain.publish("three")
    try chain.use("three", digest: String(repeating: "0", count: 64))
    let refused = try await gateway.ask("reload")
    #expect(
      refused.status != 0 && (refused.output + refused.errors).contains("[pinMismatch]"), "\(refused.output)\(refused.errors)")
    #expect(try gateway.stamp() == "two")
    // A file that is there is not asked for again, so the server is not needed.
    chain.server.end()
    try chain.use("two", digest: digest)
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await chain.requests(for: "two.so", 1) == 1)
    try chain.use("four", digest: String(repeating: "1", count: 64))
    let away = try await gateway.ask("reload")
    #expect(away.status != 0 && (away.output + away.errors).contains("[downloadFailed]"), "\(away.output)\(away.errors)")
    #expect(try gateway.stamp() == "two")
    let settings = try await gateway.ask("status", "--settings").output
    #expect(settings.contains("plugin-cache-size") && settings.contains("state/plugins"), "\(settings)")
  }

  @Test("the last good state starts without the server and without the folder for downloads", .rule("fleet.10"))
  func lastGood() async throws {
    let chain = try await PublishedChain()
    let upstream = try DemoServerProcess()
    let state = ["--state", chain.folder.file("state")]
    let first = try ServeProcess(chain.folder, endpoint: upstream.endpoint, state)
    #expect(try first.stamp() == "one")
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    chain.server.end()
    try FileManager.default.removeItem(atPath: chain.folder.file("state/plugins"))
    #expect(throws: ServeProcess.DidNotStart.self) { try ServeProcess(chain.folder, endpoint: upstream.endpoint, state) }
    let second = try ServeProcess(chain.folder, endpoint: upstream.endpoint, state + ["--start-from-last-good"])
    #expect(try second.stamp() == "one")
    #expect(second.errors.contains("the last known good manifest serves"), "\(second.errors)")
  }

  @Test("a server that does not answer delays its reload only: plugins are switched off meanwhile", .rule("fleet.10"))
  func slow() async throws {
    let chain = try await PublishedChain()
    let upstream = try DemoServerProcess()
    let gateway = try ServeProcess(chain.folder, endpoint: upstream.endpoint, ["--state", chain.folder.file("state")])
    #expect(try gateway.stamp() == "one")
    try chain.use("two", digest: try await chain.publish("two"))
    try await chain.server.stop()
    async let reload = gateway.ask("reload")
    let downloads = chain.folder.file("state/plugins")
    let hasBegun = await eventually {
      try FileManager.default.contentsOfDirectory(atPath: downloads).contains { $0.hasSuffix(".partial") }
    }
    #expect(hasBegun)
    #expect(try await gateway.ask("disable", "stamp", "--reason", "test").status == 0)
    #expect(try gateway.stamp() == "none")
    chain.server.proceed()
    #expect(try await reload.status == 0)
    #expect(try await gateway.ask("enable", "stamp", "--reason", "test").status == 0)
    #expect(try gateway.stamp() == "two")
  }

  @Test("the last good state asks no server, also not for a plugin that was switched off", .rule("fleet.10"))
  func lastGoodAsksNoServer() async throws {
    let chain = try await PublishedChain()
    let upstream = try DemoServerProcess()
    let text = try String(contentsOfFile: chain.manifest, encoding: .utf8)
    let off = text.replacing("  - name: stamp\n", with: "  - name: stamp\n    enabled: false\n")
    _ = try chain.folder.write(off, to: "chain.yaml")
    let state = ["--state", chain.folder.file("state"), "--start-from-last-good"]
    let first = try ServeProcess(chain.folder, endpoint: upstream.endpoint, state)
    #expect(try first.stamp() == "none")
    #expect(try await offThePool { first.end(with: SIGTERM) } == 0)
    try FileManager.default.removeItem(atPath: chain.folder.file("state/plugins"))
    let before = try await chain.server.requests(1).count
    _ = try chain.folder.write("carabiner: 2", to: "chain.yaml")
    let second = try ServeProcess(chain.folder, endpoint: upstream.endpoint, state)
    #expect(try second.stamp() == "none")
    #expect(chain.server.requests.count == before)
    let on = try await second.ask("enable", "stamp", "--reason", "test")
    #expect(on.status != 0 && (on.output + on.errors).contains("was not downloaded"), "\(on.output)\(on.errors)")
  }

  @Test("with --trust, the sidecar is asked for again each time; if that fails, the kept one counts", .rule("fleet.10"))
  func signed() async throws {
    let published = try await PublishedChain()
    let signed = try await SignedChain()
    func publish() throws {
      for name in ["stamp.so", "stamp.so.release"] {
        _ = try published.publish(try Data(contentsOf: URL(filePath: signed.folder.file(name))), as: name)
      }
    }
    try publish()
    let digest = try published.publish(try Data(contentsOf: URL(filePath: signed.plugin)), as: "stamp.so")
    try published.use("stamp", digest: digest)
    let text = try String(contentsOfFile: published.manifest, encoding: .utf8)
    _ = try signed.folder.write(text.replacing("file:token", with: "file:\(published.folder.file("token"))"), to: "chain.yaml")
    try await signed.sign(signed.manifest, as: "manifest:chain")
    let cache = ["--plugin-cache", published.cache]
    for _ in 0..<2 {
      let run = try await signed.check(cache)
      #expect(run.status == 0, "\(run.errors)")
    }
    #expect(try await published.requests(for: "stamp.so", 1) == 1)
    #expect(try await published.requests(for: "stamp.so.release", 2) == 2)
    // A page in place of the sidecar changes nothing.
    _ = try published.publish(Data("<html>".utf8), as: "stamp.so.release")
    let page = try await signed.check(cache)
    #expect(page.status == 0 && page.errors.contains("is not a sidecar of this file"), "\(page.errors)")
    // Nor does a sidecar that is not accepted, here that of another name.
    try await signed.sign(signed.plugin, as: "plugin:other")
    try publish()
    #expect(try await signed.check(cache).status == 0)
    #expect(try await signed.check(cache).status == 0)
    // A renewed one counts.
    try await signed.sign(signed.plugin, as: "plugin:stamp", ["--expires", "100d"])
    try publish()
    let renewed = try await signed.check(cache)
    #expect(renewed.status == 0 && renewed.errors.isEmpty, "\(renewed.errors)")
    let kept = try FileManager.default.contentsOfDirectory(atPath: published.cache).filter { $0.hasSuffix(".release") }
    #expect(kept.count == 1)
    let name = try #require(kept.first)
    #expect(
      try Data(contentsOf: URL(filePath: "\(published.cache)/\(name)"))
        == Data(contentsOf: URL(filePath: "\(signed.plugin).release")))
    published.server.end()
    let away = try await signed.check(cache)
    #expect(away.status == 0 && away.errors.contains("a kept one is used"), "\(away.errors)")
    try FileManager.default.removeItem(atPath: "\(published.cache)/\(name)")
    let unsigned = try await signed.check(cache)
    #expect(unsigned.status == 3 && unsigned.errors.contains("[unsigned]"), "\(unsigned.errors)")
  }
}
