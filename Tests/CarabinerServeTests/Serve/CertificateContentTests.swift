import CommandTools
import Foundation
import TestTools
import Testing

/// Certificates that are replaced while clients connect.
@Suite("carabiner serve: certificates are replaced under load")
struct CertificateContentTests {
  private let folder: StoreFolder
  private var key: String { folder.file("key.pem") }
  private var certificate: String { folder.file("certificate.pem") }

  init() throws {
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  /// Makes a key pair with a serial number.
  private func make(_ serial: Int, key: String, certificate: String) async throws {
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        certificate, "-days", "2", "-subj", "/CN=localhost", "-set_serial", "\(serial)",
      ])
    #expect(made.status == 0, "\(made.errors)")
  }

  /// The serial number of the certificate that a new client gets; nil if the handshake fails.
  private static func serial(_ gateway: ServeProcess) async throws -> Int? {
    let shown = try await ToolRun(
      URL(filePath: "/bin/sh"),
      ["-c", "openssl s_client -connect 127.0.0.1:\(gateway.port) </dev/null 2>/dev/null | openssl x509 -noout -serial"])
    guard shown.status == 0 else { return nil }
    return Int(shown.output.dropFirst("serial=".count).filter { !$0.isWhitespace }, radix: 16)
  }

  /// Connects again and again until a new client gets the certificate, and returns whether all handshakes succeeded.
  private static func connect(_ gateway: ServeProcess, until wanted: Int) async throws -> Bool {
    // Two looks at the files, and one that falls into a change.
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      guard let serial = try await serial(gateway) else { return false }
      if serial == wanted { return true }
    }
    return false
  }

  @Test(
    "without a reload, a pair that is renamed and one that was half written at a look are used; no handshake fails",
    .rule("gateway.16"))
  func replaced() async throws {
    try await make(1, key: key, certificate: certificate)
    let gateway = try ServeProcess(
      folder, endpoint: "http://127.0.0.1:9/graphql", ["--tls-certificate", certificate, "--tls-key", key])
    #expect(try await Self.serial(gateway) == 1)
    try await make(2, key: folder.file("key.new"), certificate: folder.file("certificate.new"))
    for name in ["key", "certificate"] {
      let code = unsafe rename(folder.file("\(name).new"), folder.file("\(name).pem"))
      #expect(code == 0)
    }
    #expect(try await Self.connect(gateway, until: 2))
    try await make(3, key: folder.file("key.new"), certificate: folder.file("certificate.new"))
    let text = try String(contentsOfFile: folder.file("certificate.new"), encoding: .utf8)
    _ = try folder.write(try String(contentsOfFile: folder.file("key.new"), encoding: .utf8), to: "key.pem")
    _ = try folder.write(String(text.prefix(text.count / 2)), to: "certificate.pem")
    let end = ContinuousClock.now + .seconds(120)
    while !gateway.errors.contains("the changed TLS certificate is not used"), ContinuousClock.now < end {
      #expect(try await Self.serial(gateway) == 2)
    }
    _ = try folder.write(text, to: "certificate.pem")
    #expect(try await Self.connect(gateway, until: 3))
    let metrics = try await ScrapedMetrics(gateway)
    #expect(metrics["carabiner_tls_reload_failures_total{name=\(certificate)}"] ?? 0 >= 1)
  }
}
