import CarabinerRedis
import Logging
import ScriptedServer
import TestTools
import Testing

/// TLS to a real redis-server. Each failure has its own text.
@Suite("TLS to Redis")
struct RedisTLSTests {
  private func server(_ files: CertificateFiles, needsClient: Bool = false) async throws -> RedisServer {
    try await RedisServer(files.server(needsClient: needsClient), isSecure: true)
  }

  @Test(
    "a certificate of the given authority is trusted, for a name and for an address", .rule("redis.3"),
    arguments: ["localhost", "127.0.0.1"])
  func right(host: String) async throws {
    let files = try await CertificateFiles(.good)
    let server = try await server(files)
    let test = try TestClient("rediss://\(host):\(server.port)") { $0.authorityFile = files.path("authority.pem") }
    await test.opened()
    // More than a record of TLS.
    let large = String(repeating: "x", count: 100_000)
    #expect(await test.ask("SET", "k", large) == "OK")
    #expect(await test.ask("GET", "k") == large)
  }

  @Test(
    "an expired certificate, a wrong name and an unknown authority are refused before the login, each with its own text",
    .rule("redis.3"),
    arguments: [
      (CertificateFiles.Kind.expired, "authority.pem", "has expired; renew it"),
      (.otherHost, "authority.pem", "is for another host"), (.good, "other.pem", "is not trusted; set ca-file"),
    ])
  func wrong(kind: CertificateFiles.Kind, authority: String, message: String) async throws {
    let files = try await CertificateFiles(kind)
    let server = try await server(files)
    let test = try TestClient("rediss://127.0.0.1:\(server.port)") {
      $0.authorityFile = files.path(authority)
      $0.password = "s3cret"
    }
    #expect(await eventually { test.log.has(.warning, message) }, "\(test.log.lines)")
    #expect(await test.ask("PING") == "unavailable")
  }

  @Test("certificate and key of the client are shown to a server that asks for them", .rule("redis.1"))
  func clientCertificate() async throws {
    let files = try await CertificateFiles(.good)
    let server = try await server(files, needsClient: true)
    let url = "rediss://localhost:\(server.port)"
    let test = try TestClient(url) {
      $0.authorityFile = files.path("authority.pem")
      ($0.certificateFile, $0.keyFile) = (files.path("server.pem"), files.path("server.key"))
    }
    await test.opened()
    let without = try TestClient(url) { $0.authorityFile = files.path("authority.pem") }
    #expect(await eventually { without.log.lines.first?.hasPrefix("warning") == true })
    #expect(await without.ask("PING") == "unavailable")
  }

  @Test("a server without TLS gets no login over a URL with rediss://", .rule("redis.3"))
  func withoutTLS() async throws {
    let server = try await RedisServer()
    // The server waits for the end of a line, which the random bytes of a handshake may lack.
    let test = try TestClient("rediss://127.0.0.1:\(server.port)") {
      ($0.password, $0.limits.openingTime) = ("s3cret", .seconds(1))
    }
    #expect(await eventually { test.log.lines.first?.hasPrefix("warning") == true }, "\(test.log.lines)")
    #expect(await test.ask("PING") == "unavailable")
  }
}
