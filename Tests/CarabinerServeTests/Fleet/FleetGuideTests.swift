import Foundation
import TestTools
import Testing

/// The page Run a fleet, with a real etcd that has TLS and logins.
@Suite("The page Run a fleet")
struct FleetGuideTests {
  @Test(
    "the commands of the page work: signed files, a node with the least rights, a roll-out, a halt", .rule("fleet.3", "fleet.14"))
  func page() async throws {
    let certificates = try await CertificateFiles()
    let server = try await EtcdServer.single(.tls(certificates))
    let place = try FixturePlugin.Folder()
    let root = place.url.path
    for folder in ["etc/plugins", "var", "run/shop"] {
      try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
    }
    for number in 1...2 {
      let plugin = try await FixturePlugin.compile(
        "stamp", defining: ["STAMP=\"\(number)\""], into: place, name: "hello-\(number).so")
      try FileManager.default.moveItem(atPath: plugin, toPath: "\(root)/etc/plugins/hello-\(number).so")
    }
    try FileManager.default.copyItem(atPath: certificates.path("authority.pem"), toPath: "\(root)/etc/etcd-ca.pem")

    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/FleetGuide.md"), encoding: .utf8)
    let manifest = try #require(page.firstMatch(of: /`shop\.yaml`:\n\n```yaml\n([^`]*)```/)).1
    let listings = page.matches(of: /```sh\n([^`]*)```/).map { String($0.1) }
    let port = Int.random(in: 20_000..<32_000)
    let replacements = [
      ("m1.internal:2379,m2.internal:2379,m3.internal:2379", "127.0.0.1:\(server.port)"),
      ("m1.internal:2379", "127.0.0.1:\(server.port)"), ("0.0.0.0:4000", "127.0.0.1:\(port)"),
      ("127.0.0.1:4000", "127.0.0.1:\(port)"), ("/etc/carabiner", "\(root)/etc"), ("/var/lib/carabiner", "\(root)/var"),
      ("/run/carabiner", "\(root)/run"), ("10m", "1s"), ("11m", "2s"), ("--lame-duck 5s", "--lame-duck 0s"),
    ]
    func local(_ text: String) -> String { replacements.reduce(text) { $0.replacing($1.0, with: $1.1) } }
    try Data(local(String(manifest)).utf8).write(to: place.file("shop.yaml"))
    let script =
      "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n" + listings.map(local).joined(separator: "\n")

    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let run = try await ToolRun(
      URL(filePath: "/bin/bash"), ["-euo", "pipefail", "-c", script],
      environment: [
        "PATH": "\(Repository.command.deletingLastPathComponent().path):\(path)",
        // Long enough for a busy machine.
        "CARABINER_SOURCE_TIMEOUT": "60s", "ETCDCTL_COMMAND_TIMEOUT": "60s", "ETCDCTL_DIAL_TIMEOUT": "60s",
      ], in: place.url)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    for text in [
      "is the stable manifest now", "is the candidate now, in stage 1 of 3: 1% of 1 node", "fleet        node m1, serving\n",
      "carabiner_fleet_halted 0\n", "carabiner_source_up 1\n", "is resumed", "is given up", "an operator drains the gateway",
    ] { #expect(run.output.contains(text), "\(text): \(run.output)") }
    #expect(!run.errors.contains("denied"), "\(run.errors)")
  }
}
