import CarabinerCurl
import Foundation
import ScriptedServer
import TestTools

/// A real nginx with TLS and HTTP/2 on a free port, with certificates created for it.
final class WebServer: Sendable {
  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let folder: URL
  private let certificates: CertificateFiles
  private let process: ProcessHandle

  var origin: String { "https://127.0.0.1:\(port)" }
  /// The certificate of the authority that signed the server's certificate.
  var authorityFile: String { certificates.path("authority.pem") }
  /// A file of 16 MiB, which is served at /large.
  static let largeFileBytes = 16 << 20

  /// - Parameters:
  ///   - upstream: The port to which requests for /upstream are passed.
  ///   - offersHTTP2: Whether the server speaks HTTP/2 besides HTTP/1.1.
  init(_ certificate: CertificateFiles.Kind = .good, upstream: Int = 1, offersHTTP2: Bool = true) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-nginx-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.folder = folder
    certificates = try await CertificateFiles(certificate)
    try Data(count: Self.largeFileBytes).write(to: folder.appending(path: "large"))
    // Another process may use the port between its selection and the listen call.
    for attempt in 1... {
      let port = try Listener(backlog: 1).port
      let process = try Self.start(port: port, upstream: upstream, offersHTTP2: offersHTTP2, certificates, in: folder)
      // Another server may answer at the port while this one still tries to listen. It writes the file when it listens.
      let written = folder.appending(path: "pid").path
      let isListening = { FileManager.default.fileExists(atPath: written) && Self.answers(port) }
      if await eventually({ !process.isRunning || isListening() }), process.isRunning {
        self.port = port
        self.process = process
        return
      }
      process.end()
      guard attempt < 3 else {
        throw DidNotStart(output: (try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)) ?? "no log")
      }
    }
    throw DidNotStart(output: "")
  }

  deinit {
    process.end()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func start(port: Int, upstream: Int, offersHTTP2: Bool, _ certificates: CertificateFiles, in folder: URL) throws
    -> ProcessHandle
  {
    let configuration = """
      daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/error.log;
      events { worker_connections 512; }
      http {
        access_log off; client_max_body_size 10m; client_body_temp_path \(folder.path)/b; proxy_temp_path \(folder.path)/p;
        fastcgi_temp_path \(folder.path)/f; uwsgi_temp_path \(folder.path)/u; scgi_temp_path \(folder.path)/s;
        server {
          listen 127.0.0.1:\(port) ssl\(offersHTTP2 ? " http2" : ""); ssl_certificate \(certificates.path("server.pem")); ssl_certificate_key \(certificates.path("server.key"));
          location /large { root \(folder.path); }
          location /down { return 302 http://127.0.0.1:\(port)/; }
          location /upstream { add_header X-Connection $connection; proxy_pass http://127.0.0.1:\(upstream); }
          location /stream {
            proxy_pass http://127.0.0.1:\(upstream); proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
          }
          location /refused { return 403 "refused"; }
          location / { return 200 "$connection $server_protocol $request_method"; }
        }
      }
      """
    let file = folder.appending(path: "nginx.conf")
    try Data(configuration.utf8).write(to: file)
    return try ProcessHandle("/usr/sbin/nginx", ["-e", "\(folder.path)/error.log", "-c", file.path])
  }

  private static func answers(_ port: Int) -> Bool { Listener.isListening(port) }
}

/// A process that ends when this value is released.
final class ProcessHandle: @unchecked Sendable {
  // Foundation's Process may be used from any thread once it runs.

  private let process = ChildProcess()

  init(_ path: String, _ arguments: [String]) throws {
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  func end() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { end() }
}
