import CarabinerBridge
import CarabinerManifest
import Testing

@testable import CarabinerHost

@Suite("Settings of the command line and the environment for a manifest")
struct WireChoiceTests {
  @Test(
    "certificates to trust are those of --cacert, then of the manifest, then of SSL_CERT_FILE",
    arguments: [
      ("option.pem", "manifest.pem", "environment.pem", "option.pem"), (nil, "manifest.pem", "environment.pem", "manifest.pem"),
      (nil, nil, "environment.pem", "environment.pem"), (nil, nil, "", nil), (nil, nil, nil, nil),
    ] as [(String?, String?, String?, String?)])
  func certificateAuthorityFile(_ option: String?, _ manifest: String?, _ variable: String?, _ chosen: String?) throws {
    var given = try Manifest(text: "carabiner: 1")
    given.settings.certificateAuthorityFile = manifest
    let environment = variable.map { ["SSL_CERT_FILE": $0] } ?? [:]
    let applied = try WireChoice(certificateAuthorityFile: option).applied(to: given, environment: environment)
    #expect(applied.settings.certificateAuthorityFile == chosen)
  }
}
