import Foundation
import Logging
import NIOSSL
import Synchronization
import TestTools
import Testing

@testable import CarabinerGateway

@Suite("Certificates are read again")
struct ServerCertificateTests {
  /// The certificate and key files, which the test changes.
  private final class Files: Sendable {
    private let contents = Mutex<[String: [UInt8]]>([:])

    subscript(name: String) -> [UInt8]? {
      get { contents.withLock { $0[name] } }
      set { contents.withLock { $0[name] = newValue } }
    }

    func put(_ pair: (certificate: [UInt8], key: [UInt8])) { (self["certificate"], self["key"]) = (pair.certificate, pair.key) }

    func served(now: @escaping @Sendable () -> time_t = { time(nil) }) throws -> ServerCertificate {
      try ServerCertificate(
        .init(certificates: "certificate", key: "key"), logger: Logger(label: "test"), now: now
      ) { name in
        guard let bytes = self[name] else { throw CocoaError(.fileNoSuchFile) }
        return bytes
      }
    }
  }

  private let files = Files()

  private func pair() async throws -> (certificate: [UInt8], key: [UInt8]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let made = try await ToolRun(
      URL(filePath: "/usr/bin/openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key", "-out",
        "certificate", "-days", "2", "-subj", "/CN=localhost",
      ], in: folder)
    #expect(made.status == 0, "\(made.errors)")
    return (
      Array(try Data(contentsOf: folder.appending(path: "certificate"))),
      Array(try Data(contentsOf: folder.appending(path: "key")))
    )
  }

  @Test("a new pair is taken over, and the same contents are not read into a new one")
  func changed() async throws {
    files.put(try await pair())
    let served = try files.served()
    let (leaf, context) = (served.leaf, served.context)
    served.refresh()
    #expect(served.context === context)
    files.put(try await pair())
    served.refresh()
    #expect(served.leaf != leaf && served.context !== context)
    #expect(served.failureCount == 0)
  }

  @Test(
    "a pair that cannot be used changes nothing, and counts once", arguments: ["wrong key", "half a file", "no file", "no PEM"])
  func unusable(_ fault: String) async throws {
    files.put(try await pair())
    let served = try files.served()
    let leaf = served.leaf
    let next = try await pair()
    switch fault {
    case "wrong key": files["certificate"] = next.certificate
    case "half a file": files.put((Array(next.certificate.prefix(next.certificate.count / 2)), next.key))
    case "no file": files["key"] = nil
    default: files.put((next.key, next.certificate))
    }
    for _ in 0..<3 { served.refresh() }
    #expect(served.leaf == leaf)
    #expect(served.failureCount == 1)
    files.put(next)
    served.refresh()
    #expect(served.leaf != leaf)
    #expect(served.failureCount == 1)
  }

  @Test("a certificate that has expired, or is not valid yet, is not taken over", arguments: [-30, 30])
  func outOfDate(_ days: Int) async throws {
    files.put(try await pair())
    let served = try files.served { time(nil) + days * 86_400 }
    let leaf = served.leaf
    files.put(try await pair())
    served.refresh()
    #expect(served.leaf == leaf)
    #expect(served.failureCount == 1)
  }
}
