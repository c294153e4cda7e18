import CarabinerEtcd
import TestTools
import Testing

@Suite("TLS to etcd")
struct EtcdTLSTests {
  @Test("a certificate without a CN is accepted; with one, the error says to make one with an empty CN", .rule("fleet.3"))
  func clientCertificates() async throws {
    let files = try await CertificateFiles()
    try await files.makeClient("node", subject: "/O=nodes")
    try await files.makeClient("named", subject: "/O=nodes/CN=node-1")
    let server = try await EtcdServer.single(.mutual(files))
    func client(_ name: String) throws -> EtcdClient {
      try EtcdTest.client(server.url) { settings in
        settings.authorityFile = files.path("authority.pem")
        (settings.certificateFile, settings.keyFile) = (files.path("\(name).pem"), files.path("\(name).key"))
        settings.login = .init(user: "node", password: "secret")
      }
    }
    let node = try client("node")
    // The gateway looks at the name only if logins are needed.
    try await server.enableLogins(over: node.settings.transport)
    let view = try await node.view(of: [.one("p/a")])
    _ = try await node.watch(.one("p/a"), from: view.revision + 1)
    let named = try client("named")
    for body in [{ _ = try await named.view(of: [.one("p/a")]) }, { _ = try await named.watch(.one("p/a"), from: 2) }] {
      let error = await #expect(throws: EtcdError.self) { try await body() }
      #expect(error?.code == .denied)
      #expect(error?.message.contains("make a certificate with an empty CN") == true, "\(error?.message ?? "")")
    }
  }

  @Test(
    "a server whose authority is not the given one, and one for another host, get no request", .rule("fleet.3"),
    arguments: [true, false])
  func distrusted(isOtherHost: Bool) async throws {
    let files = try await CertificateFiles(isOtherHost ? .otherHost : .good)
    let server = try await EtcdServer.single(.tls(files))
    let client = try EtcdTest.client(server.url) {
      $0.authorityFile = files.path(isOtherHost ? "authority.pem" : "other.pem")
    }
    let error = await #expect(throws: EtcdError.self) { try await client.put("p/a", "1") }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("certificate") == true)
  }
}
