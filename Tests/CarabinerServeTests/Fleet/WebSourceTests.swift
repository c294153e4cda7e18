import CarabinerWire
import CommandTools
import Foundation
import Synchronization
import TestTools
import Testing

/// Gateways with a manifest from a real nginx.
@Suite("A manifest from a web server")
struct WebSourceTests {
  private final class Site: Sendable {
    let folder: StoreFolder
    let server: FileServer
    let upstream: DemoServerProcess
    private let published = Mutex(0)

    var address: String { "\(server.origin)/chain.yaml" }

    init() async throws {
      folder = try StoreFolder()
      server = try await FileServer()
      upstream = try DemoServerProcess()
      try publish("1")
    }

    /// Publishes a manifest. Each has another size, because the entity tags of nginx are times in seconds and sizes.
    func publish(_ version: String) throws {
      let count = published.withLock { count in
        count += 1
        return count
      }
      let text = EtcdChain.text(version, String(repeating: "#", count: count))
      try server.publish(Data(text.utf8), as: "chain.yaml")
    }

    func serve(interval: String = "1s", trust: [String] = ["--allow-unsigned"]) throws -> ServeProcess {
      try ServeProcess(
        folder, source: address, endpoint: upstream.endpoint,
        ["--state", folder.file("state"), "--source-ca", server.authorityFile, "--source-interval", interval] + trust)
    }

    /// The statuses of the requests for the manifest.
    var statuses: [Int] { server.requests.filter { $0.path == "/chain.yaml" }.map(\.status) }
  }

  @Test("nginx answers 304 until the manifest changes, and then with a new generation", .rule("fleet.5"))
  func change() async throws {
    let site = try await Site()
    let gateway = try site.serve()
    #expect(try gateway.version() == "1")
    #expect(await eventually { site.statuses.contains(304) })
    try site.publish("2")
    #expect(try await gateway.serves("2"))
    #expect(try await gateway.status()["generation"] == 2)
    #expect(site.statuses.first == 200 && site.statuses.count { $0 == 200 } == 2, "\(site.statuses)")
  }

  @Test("carabiner reload asks at once, and what cannot be read keeps the manifest", .rule("fleet.5"))
  func reload() async throws {
    let site = try await Site()
    let gateway = try site.serve(interval: "1h")
    try site.publish("2")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.version() == "2")
    try site.server.remove("chain.yaml")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await gateway.logs("the server has no file \(site.address)"))
    #expect(try gateway.version() == "2")
    site.server.end()
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.version() == "2")
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics.problems.isEmpty, "\(metrics.problems)")
    #expect(metrics["carabiner_source_up{}"] == 0 && metrics["carabiner_source_stale{}"] == 0)
    #expect(metrics["carabiner_source_errors_total{kind=missing}"] == 1)
    #expect(metrics["carabiner_source_errors_total{kind=unavailable}"] == 1)
    #expect(metrics.series("carabiner_source_revision").isEmpty)
  }

  @Test("with --trust, the signature is beside the manifest, and a renewed one is a new generation", .rule("fleet.5"))
  func signed() async throws {
    let site = try await Site()
    let signed = try await SignedChain(EtcdChain.text("1"))
    func publish() throws {
      for name in ["chain.yaml", "chain.yaml.release"] {
        try site.server.publish(try Data(contentsOf: URL(filePath: signed.folder.file(name))), as: name)
      }
    }
    try publish()
    let gateway = try site.serve(interval: "1h", trust: ["--trust", signed.trust])
    #expect(try gateway.version() == "1")
    try site.publish("forged")
    let refused = try await gateway.ask("reload")
    #expect(refused.status == 3 && refused.output.contains("[pinMismatch]"), "\(refused.output)\(refused.errors)")
    #expect(try gateway.version() == "1")
    try await signed.sign(signed.manifest, as: "manifest:chain", ["--expires", "100d"])
    try publish()
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.version() == "1")
    #expect(try await offThePool { gateway.end(with: SIGTERM) } == 0)
    site.server.end()
    // The last good state has the signature with it.
    #expect(try site.serve(interval: "1h", trust: ["--trust", signed.trust]).version() == "1")
  }
}
