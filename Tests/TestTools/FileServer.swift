public import Foundation
internal import Glibc
internal import Synchronization

/// A real nginx that serves the files of a folder by https and http, running as long as this value lives.
///
/// `/again/N/NAME` redirects N times to the file, `/elsewhere/NAME` to the same server under another host name, and `/plain/NAME` to http.
/// `/locked/NAME` needs the header `Authorization: Bearer s3cret`.
public final class FileServer: Sendable {
  /// The log of nginx.
  public struct DidNotStart: Error {
    public let output: String
  }

  /// A request that was answered.
  public struct Request: Sendable, Hashable {
    public let host: String
    public let path: String
    public let status: Int
    /// The header `Authorization`; "-" if there was none.
    public let authorization: String
  }

  private let port: Int
  private let plainPort: Int
  private let folder: URL
  private let certificates: CertificateFiles
  private let process: Mutex<ChildProcess>

  public var origin: String { "https://127.0.0.1:\(port)" }
  public var plainOrigin: String { "http://127.0.0.1:\(plainPort)" }
  /// The certificate of the authority that signed the server's.
  public var authorityFile: String { certificates.path("authority.pem") }

  public init() async throws {
    let certificates = try await CertificateFiles()
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder.appending(path: "files"), withIntermediateDirectories: true)
    let (process, port) = try await offThePool {
      for _ in 0..<50 {
        let port = Int.random(in: 20_000..<32_000)
        if let process = try Self.start(port, certificates, folder) { return (process, port) }
      }
      throw DidNotStart(output: (try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)) ?? "no log")
    }
    self.process = Mutex(process)
    self.port = port
    plainPort = port + 1
    self.folder = folder
    self.certificates = certificates
  }

  deinit {
    end()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Kills it, and waits for its end.
  public func end() {
    process.withLock { process in
      guard process.isRunning else { return }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Stops it: connections stay open, and nothing is answered.
  public func stop() async throws { try await StoppedProcess.stop(process.withLock(\.processIdentifier)) }

  /// Continues after `stop()`.
  public func proceed() { kill(process.withLock(\.processIdentifier), SIGCONT) }

  /// Puts a file in place in one step.
  public func publish(_ data: Data, as name: String) throws {
    try data.write(to: folder.appending(path: "files/\(name)"), options: .atomic)
  }

  public func remove(_ name: String) throws { try FileManager.default.removeItem(at: folder.appending(path: "files/\(name)")) }

  /// The requests that were answered, in order.
  public var requests: [Request] {
    let log = (try? String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)) ?? ""
    return log.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 4, let status = Int(parts[2]) else { return nil }
      return Request(host: parts[0], path: parts[1], status: status, authorization: parts[3])
    }
  }

  /// The requests that were answered, once there are so many. nginx logs a request after its client has the response.
  public func requests(_ count: Int) async throws -> [Request] {
    let deadline = ContinuousClock.now + .seconds(60)
    while requests.count < count, .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    return requests
  }

  /// Nil if it ended, for example because a port was in use.
  private static func start(_ port: Int, _ certificates: CertificateFiles, _ folder: URL) throws -> ChildProcess? {
    let own = folder.path
    let configuration = """
      daemon off; master_process off; pid \(own)/pid; error_log \(own)/error.log;
      events { worker_connections 256; }
      http {
        log_format tabs '$host\t$request_uri\t$status\t$http_authorization'; access_log \(own)/access.log tabs;
        client_body_temp_path \(own)/b; proxy_temp_path \(own)/p; fastcgi_temp_path \(own)/f; uwsgi_temp_path \(own)/u;
        scgi_temp_path \(own)/s; gzip on; gzip_types *; gzip_min_length 1;
        server {
          listen 127.0.0.1:\(port) ssl http2; listen 127.0.0.1:\(port + 1);
          ssl_certificate \(certificates.path("server.pem")); ssl_certificate_key \(certificates.path("server.key"));
          root \(own)/files;
          location ~ ^/again/1/(.*)$ { return 302 /$1; }
          location ~ ^/again/2/(.*)$ { return 307 /again/1/$1; }
          location ~ ^/again/3/(.*)$ { return 301 /again/2/$1; }
          location ~ ^/again/4/(.*)$ { return 302 /again/3/$1; }
          location ~ ^/elsewhere/(.*)$ { return 302 https://localhost:\(port)/$1; }
          location ~ ^/plain/(.*)$ { return 302 http://127.0.0.1:\(port + 1)/$1; }
          location ~ ^/locked/(.*)$ { if ($http_authorization != "Bearer s3cret") { return 401; } try_files /$1 =404; }
        }
      }
      """
    let file = folder.appending(path: "nginx.conf")
    try Data(configuration.utf8).write(to: file)
    let written = folder.appending(path: "pid").path
    try? FileManager.default.removeItem(atPath: written)
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/sbin/nginx")
    process.arguments = ["-e", "\(own)/error.log", "-c", file.path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    // It writes the file when it listens.
    while process.isRunning {
      if FileManager.default.fileExists(atPath: written) { return process }
      usleep(5_000)
    }
    return nil
  }
}
