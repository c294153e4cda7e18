import CarabinerWire
import CommandTools
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("carabiner serve: listeners in the manifest")
struct ListenerTests {
  private let folder: StoreFolder
  private let upstream: ScriptedServer

  init() throws {
    folder = try StoreFolder()
    upstream = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        try peer.respond("200 OK", headers: "Content-Type: application/json\r\n", body: #"{"data":{"a":1}}"#)
      })
  }

  private func write(_ serve: String) throws {
    _ = try folder.write("carabiner: 1\nendpoint: '\(upstream.origin)/'\nserve:\n\(serve)\n", to: "chain.yaml")
  }

  private func start(_ arguments: [String] = []) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: nil, arguments, listensByFlag: false)
  }

  private func freePort() throws -> Int { try ScriptedServer(ScriptedServer.answering { _, _ in }).port }

  /// Makes a certificate for a host name, and returns the paths of it and its key.
  private func certificate(_ name: String, days: Int = 2) async throws -> (certificate: String, key: String) {
    let (certificate, key) = (folder.file("\(name).crt"), folder.file("\(name).key"))
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        certificate,
        "-days", "\(days)", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name),DNS:*.\(name)",
      ])
    #expect(made.status == 0, "\(made.errors)")
    return (certificate, key)
  }

  private func shown(_ port: Int, _ more: String...) async throws -> String {
    try await ToolRun(URL(filePath: "/usr/bin/openssl"), ["s_client", "-connect", "127.0.0.1:\(port)"] + more).output
  }

  /// The ports of the listeners that `carabiner status` shows.
  private func ports(_ gateway: ServeProcess) async throws -> [Int] {
    (try await gateway.status()["listeners"]?.array ?? []).compactMap {
      $0["address"]?.string?.split(separator: ":").last.flatMap { Int($0) }
    }
  }

  @Test(
    "a reload adds a listener and removes another one, the rest keep their sockets, and no request fails", .rule("gateway.14"))
  func reload() async throws {
    let (first, second) = (try freePort(), try freePort())
    try write("  listeners: [{address: '127.0.0.1:0'}, {address: '127.0.0.1:\(first)'}]")
    let gateway = try start()
    let body = #"{"query":"{ a }"}"#
    #expect(try RawAnswer("http://127.0.0.1:\(first)/graphql", body: body).status == 200)
    let before = try await ports(gateway)
    #expect(before.count == 2 && before[1] == first)
    let load = Task {
      var failures = 0
      while !Task.isCancelled { if try gateway.query("{ a }").status != 200 { failures += 1 } }
      return failures
    }
    for round in 0..<4 {
      let port = round % 2 == 0 ? second : first
      try write("  listeners: [{address: '127.0.0.1:0'}, {address: '127.0.0.1:\(port)', roles: [operations, metrics]}]")
      #expect(try await gateway.ask("reload").status == 0)
      #expect(try await ports(gateway) == [before[0], port])
      #expect(try RawAnswer("http://127.0.0.1:\(port)/graphql", body: body).status == 200)
      #expect(try RawAnswer("http://127.0.0.1:\(port)/metrics").status == 200)
      #expect(try RawAnswer("http://127.0.0.1:\(port)/healthz").status == 404)
    }
    load.cancel()
    #expect(try await load.value == 0)
  }

  @Test(
    "several listeners may have port 0: a reload keeps each of them, and one with other roles accepts uploads",
    .rule("gateway.14"))
  func freePorts() async throws {
    try write("  listeners: [{address: '127.0.0.1:0'}, {address: '127.0.0.1:0', roles: [operations, metrics]}]")
    let gateway = try start()
    let before = try await ports(gateway)
    #expect(Set(before).count == 2)
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await ports(gateway) == before)
    let client = try ClientSocket(port: try #require(before.last))
    client.send(UploadText.request(UploadText.opening + "content" + UploadText.end))
    let answer = client.read { $0.contains("data") || $0.contains("errors") }
    #expect(answer.text.hasPrefix("HTTP/1.1 200"), "\(answer.text)")
  }

  @Test(
    "an address that is in use, or a certificate that cannot be read, refuses the reload; the old listeners go on",
    .rule("gateway.14"))
  func refusal() async throws {
    let taken = try ScriptedServer(ScriptedServer.answering { _, _ in })
    let free = try freePort()
    try write("  listeners: [{address: '127.0.0.1:0'}]")
    let gateway = try start()
    try write(
      "  listeners: [{address: '127.0.0.1:\(free)'}, {address: '127.0.0.1:\(taken.port)'}]\n  paths: [/other]")
    let refused = try await gateway.ask("reload")
    #expect(refused.status == 3 && refused.output.contains("cannot listen on 127.0.0.1:\(taken.port)"), "\(refused.output)")
    #expect(try gateway.query("{ a }").status == 200)
    #expect(try RawAnswer("http://127.0.0.1:\(free)/healthz").status == 0)
    _ = try folder.write("no certificate", to: "bad.pem")
    try write("  listeners: [{address: '127.0.0.1:0', tls: {certificates: [{certificate: bad.pem, key: bad.pem}]}}]")
    #expect(try await gateway.ask("reload").output.contains("cannot be used"))
    #expect(try gateway.query("{ a }").status == 200)
  }

  @Test("--listen replaces the listeners of the manifest, and status shows the source", .rule("gateway.14", "convention.2"))
  func flag() async throws {
    try write("  listeners: [{address: '127.0.0.1:1'}]")
    let gateway = try ServeProcess(folder, endpoint: nil)
    #expect(try gateway.query("{ a }").status == 200)
    let settings = try await gateway.ask("status", "--settings").output
    #expect(settings.contains(/serve\/listeners +flag +\[127\.0\.0\.1:\d+\]/))
  }

  @Test("the PROXY protocol, roles and HTTP/2 of a listener change with a reload while its socket stays", .rule("gateway.14"))
  func sameSocket() async throws {
    try write("  listeners: [{address: '127.0.0.1:0'}]")
    let gateway = try start()
    #expect(try RawAnswer("\(gateway.origin)/metrics").status == 404)
    try write("  listeners: [{address: '127.0.0.1:0', roles: [metrics]}]")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try RawAnswer("\(gateway.origin)/metrics").status == 200)
    #expect(try gateway.query("{ a }").status == 404)
    try write("  trusted-proxies: [127.0.0.1]\n  listeners: [{address: '127.0.0.1:0', proxy-protocol: require}]")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try gateway.query("{ a }").status == 0)
    let client = try ClientSocket(port: gateway.port)
    client.send("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\nGET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(client.read(patience: 60_000).text.hasPrefix("HTTP/1.1 200"))
  }

  @Test(
    "client-certificate: require refuses clients without a certificate, request does not; minimum-version holds",
    .rule("gateway.14"))
  func clientCertificates() async throws {
    let (server, client) = (try await certificate("gateway.test"), try await certificate("client.test"))
    func listener(_ demand: String) -> String {
      "  listeners: [{address: '127.0.0.1:0', tls: {certificates: [{certificate: \(server.certificate), key: \(server.key)}], "
        + "client-ca: \(client.certificate), client-certificate: \(demand), minimum-version: 1.3}}]"
    }
    func status(_ more: [String]) async throws -> Int32 {
      try await ToolRun(
        URL(filePath: "/usr/bin/curl"), ["-sk", "-o", "/dev/null", "https://127.0.0.1:\(gatewayPort)/healthz"] + more
      ).status
    }
    try write(listener("require"))
    let gateway = try start()
    let gatewayPort = gateway.port
    let own = ["--cert", client.certificate, "--key", client.key]
    let foreign = ["--cert", server.certificate, "--key", server.key]
    #expect(try await status([]) != 0)
    #expect(try await status(own) == 0)
    #expect(try await status(foreign) != 0)
    #expect(try await status(own + ["--tls-max", "1.2"]) != 0)
    try write(listener("request"))
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await status([]) == 0)
    #expect(try await status(own) == 0)
    #expect(try await status(foreign) != 0)
  }

  @Test("the host name that a client asks for selects the certificate, and the first one is the default", .rule("gateway.16"))
  func serverNames() async throws {
    let (a, b) = (try await certificate("a.test"), try await certificate("b.test"))
    try write(
      """
        listeners:
          - address: "127.0.0.1:0"
            tls: {certificates: [{certificate: \(a.certificate), key: \(a.key)}, {certificate: \(b.certificate), key: \(b.key)}]}
      """)
    let gateway = try start()
    let port = gateway.port
    for (name, expected) in [("a.test", "a.test"), ("B.test", "b.test"), ("www.b.test", "b.test"), ("c.test", "a.test")] {
      #expect(try await shown(port, "-servername", name).contains("subject=CN = \(expected)"), "\(name)")
    }
    #expect(try await shown(port, "-noservername").contains("subject=CN = a.test"))
    let metrics = try await ScrapedMetrics(gateway)
    #expect(
      Set(metrics.series("carabiner_tls_certificate_expiry"))
        == Set(
          [a, b].map {
            "carabiner_tls_certificate_expiry_timestamp_seconds{listener=127.0.0.1:\(port),name=\($0.certificate)}"
          }))
    #expect(metrics["carabiner_tls_reload_failures_total{name=\(b.certificate)}"] == 0)
    // Each is read again on its own.
    _ = try await certificate("b.test", days: 3)
    let wrong = try String(contentsOfFile: b.key, encoding: .utf8)
    _ = try folder.write(wrong, to: "a.test.key")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await ScrapedMetrics(gateway)["carabiner_tls_reload_failures_total{name=\(a.certificate)}"] == 1)
    #expect(try await shown(port, "-servername", "a.test").contains("subject=CN = a.test"))
    let fresh = try String(contentsOfFile: b.certificate, encoding: .utf8)
    #expect(try await shown(port, "-servername", "b.test").contains(fresh))
  }
}
