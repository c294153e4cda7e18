import CommandTools
import Foundation
import TestTools
import Testing

@Suite("carabiner serve: certificates are read again")
struct CertificateReloadTests {
  private let folder: StoreFolder
  private var key: String { folder.file("key.pem") }
  private var certificate: String { folder.file("certificate.pem") }

  init() throws {
    folder = try StoreFolder()
    _ = try folder.write("carabiner: 1\n", to: "chain.yaml")
  }

  /// Installs a new key pair and returns the certificate.
  private func make() async throws -> String {
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
        certificate,
        "-days", "2", "-subj", "/CN=localhost",
      ])
    #expect(made.status == 0, "\(made.errors)")
    return try String(contentsOfFile: certificate, encoding: .utf8)
  }

  private func gateway(_ endpoint: String) throws -> ServeProcess {
    try ServeProcess(folder, endpoint: endpoint, ["--tls-certificate", certificate, "--tls-key", key])
  }

  @Test("after a reload, new TLS clients get the new certificate; an invalid one changes nothing")
  func newCertificate() async throws {
    let first = try await make()
    let gateway = try gateway("http://127.0.0.1:9/graphql")
    func shown() async throws -> String {
      try await ToolRun(URL(filePath: "/usr/bin/openssl"), ["s_client", "-connect", "127.0.0.1:\(gateway.port)"]).output
    }
    #expect(try await shown().contains(first))
    let second = try await make()
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await shown().contains(second))
    let metrics = try await ScrapedMetrics(gateway)
    #expect(
      metrics.series("carabiner_tls_certificate_expiry")
        == [
          "carabiner_tls_certificate_expiry_timestamp_seconds{listener=127.0.0.1:\(gateway.port),name=\(certificate)}"
        ])
    #expect(metrics["carabiner_tls_reload_failures_total{name=\(certificate)}"] == 0)
    _ = try folder.write(first, to: "certificate.pem")
    #expect(try await gateway.ask("reload").status == 0)
    #expect(try await shown().contains(second))
    #expect(gateway.errors.contains("the changed TLS certificate is not used"), "\(gateway.errors)")
  }

  @Test("a reload takes over what the file of certificate authorities holds now")
  func newAuthorities() async throws {
    let demo = try DemoServerProcess()
    let wrong = try await make()
    let right = try await make()
    let upstream = try gateway(demo.endpoint)
    let place = try StoreFolder()
    _ = try place.write(wrong, to: "authorities.pem")
    _ = try place.write(
      "carabiner: 1\nsettings: {ca-file: authorities.pem}\nbuilt-ins: {max-retry: {maximum-retries: 0}}\n", to: "chain.yaml")
    let gateway = try ServeProcess(place, endpoint: "https://localhost:\(upstream.port)/graphql")
    #expect(try gateway.query("{ __typename }").status == 502)
    _ = try place.write(right, to: "authorities.pem")
    #expect(try await gateway.ask("reload").status == 0)
    let answer = try gateway.query("{ __typename }")
    #expect(answer.text == #"{"data":{"__typename":"Query"}}"#, "\(gateway.errors)")
  }
}
