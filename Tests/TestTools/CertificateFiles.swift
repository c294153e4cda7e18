internal import Foundation

/// Certificates of an authority made for a test, in a folder that lives as long as this value.
///
/// `authority.pem` has signed `server.pem`, whose key is `server.key`; `other.pem` is another authority.
public final class CertificateFiles: Sendable {
  public struct NotMade: Error {
    public let output: String
  }

  /// The certificate of a server.
  public enum Kind: String, Sendable, CaseIterable {
    /// For localhost and 127.0.0.1.
    case good
    /// For another host.
    case otherHost
    case expired
  }

  private let folder: URL

  public init(_ kind: Kind = .good) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder
    let names = kind == .otherHost ? "DNS:other.test" : "DNS:localhost,IP:127.0.0.1"
    let dates = kind == .expired ? ("20200101000000Z", "20200201000000Z") : ("20200101000000Z", "20490101000000Z")
    let script = """
      set -e
      key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
      printf '[ca]\\ndefault_ca=a\\n[a]\\ndatabase=index\\nnew_certs_dir=.\\nserial=serial\\ndefault_md=sha256\\npolicy=p\\nx509_extensions=x\\n[p]\\ncommonName=supplied\\n[x]\\nsubjectAltName=\(names)\\n' > ca.conf
      : > index
      echo 01 > serial
      for authority in authority other; do
        openssl req -x509 $key -keyout $authority.key -out $authority.pem -days 3650 -subj "/CN=Carabiner test authority"
      done
      openssl req $key -keyout server.key -out server.csr -subj "/CN=carabiner.test"
      openssl ca -batch -notext -config ca.conf -cert authority.pem -keyfile authority.key -in server.csr -out server.pem \
        -startdate \(dates.0) -enddate \(dates.1)
      """
    let run = try await ToolRun(URL(filePath: "/bin/sh"), ["-c", script], in: folder)
    guard run.status == 0 else { throw NotMade(output: run.errors) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The path of one of the files.
  public func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Makes `NAME.pem` with the key `NAME.key`, signed by the authority, for a client.
  ///
  /// - Parameter subject: As openssl takes it, for example "/O=nodes".
  public func makeClient(_ name: String, subject: String) async throws {
    let script = """
      set -e
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout \(name).key -out \(name).csr -subj "\(subject)"
      openssl x509 -req -in \(name).csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 3650 -out \(name).pem
      """
    let run = try await ToolRun(URL(filePath: "/bin/sh"), ["-c", script], in: folder)
    guard run.status == 0 else { throw NotMade(output: run.errors) }
  }

  /// The settings of a redis-server that needs a client's certificate, or none.
  public func server(needsClient: Bool = false) -> [String] {
    [
      "--tls-cert-file", path("server.pem"), "--tls-key-file", path("server.key"), "--tls-ca-cert-file", path("authority.pem"),
      "--tls-auth-clients", needsClient ? "yes" : "no",
    ]
  }
}
