internal import Foundation
internal import Glibc
internal import Synchronization

/// An `etcd` on ports of its own, running as long as this value lives.
public final class EtcdServer: Sendable {
  /// The reason why it does not run.
  public struct DidNotStart: Error {
    public let output: String
  }

  /// The certificates of a member, and whether clients need one.
  public enum Security: Sendable {
    case none
    case tls(CertificateFiles)
    case mutual(CertificateFiles)

    fileprivate var scheme: String { if case .none = self { "http" } else { "https" } }

    fileprivate var arguments: [String] {
      switch self {
      case .none: []
      case .tls(let files): ["--cert-file", files.path("server.pem"), "--key-file", files.path("server.key")]
      case .mutual(let files):
        Self.tls(files).arguments + ["--client-cert-auth", "--trusted-ca-file", files.path("authority.pem")]
      }
    }
  }

  /// The settings to start it again.
  private struct Place: Sendable {
    let name: String
    /// The port for clients, and the port for the other members.
    let port, peerPort: Int
    let data: URL
    let members: String
    let security: Security
    let arguments: [String]
  }

  private let place: Place
  private let folder: URL
  private let process: Mutex<ChildProcess>

  /// The URL for clients.
  public var url: String { "\(place.security.scheme)://127.0.0.1:\(place.port)" }
  /// The port for clients.
  public var port: Int { place.port }

  private init(_ place: Place, _ folder: URL, _ process: ChildProcess) {
    self.place = place
    self.folder = folder
    self.process = Mutex(process)
  }

  /// Starts a cluster of one member.
  public static func single(_ security: Security = .none, _ arguments: [String] = []) async throws -> EtcdServer {
    let servers = try await cluster(1, security, arguments)
    guard let server = servers.first else { throw DidNotStart(output: "there is no member") }
    return server
  }

  /// Starts a cluster.
  ///
  /// - Parameter arguments: Settings of etcd, beside those for addresses and data.
  public static func cluster(_ count: Int, _ security: Security = .none, _ arguments: [String] = []) async throws -> [EtcdServer]
  {
    for _ in 0..<50 {
      let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-etcd-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let first = Int.random(in: 20_000..<32_000 - 2 * count)
      let members = (0..<count).map { "m\($0)=http://127.0.0.1:\(first + 2 * $0 + 1)" }.joined(separator: ",")
      let places = (0..<count).map { index in
        Place(
          name: "m\(index)", port: first + 2 * index, peerPort: first + 2 * index + 1,
          data: folder.appending(path: "m\(index)"), members: members, security: security, arguments: arguments)
      }
      // A member is ready when most of them run.
      let servers = try await withThrowingTaskGroup(of: EtcdServer?.self) { group in
        for place in places {
          group.addTask { try await offThePool { try start(place) }.map { EtcdServer(place, folder, $0) } }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let running = servers.compactMap(\.self)
      if running.count == count { return running.sorted { $0.port < $1.port } }
    }
    throw DidNotStart(output: "no ports were free, or etcd is missing; run Scripts/install-test-peers first")
  }

  deinit {
    let id = process.withLock(\.processIdentifier)
    kill(id, SIGCONT)
    kill(id, SIGKILL)
    process.withLock { $0.waitUntilExit() }
    // The last member of a cluster leaves nothing.
    try? FileManager.default.removeItem(at: place.data)
    unsafe _ = rmdir(folder.path)
  }

  /// Nil if it ended, for example because a port was in use.
  private static func start(_ place: Place) throws -> ChildProcess? {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/bin/etcd")
    let client = "\(place.security.scheme)://127.0.0.1:\(place.port)"
    let peer = "http://127.0.0.1:\(place.peerPort)"
    process.arguments =
      [
        "--name", place.name, "--data-dir", place.data.path, "--listen-client-urls", client, "--advertise-client-urls", client,
        "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", place.members,
        "--logger", "zap", "--log-outputs", "stderr", "--unsafe-no-fsync",
        // A login must not take most of the time of a test.
        "--bcrypt-cost", "4",
      ] + place.security.arguments + place.arguments
    let output = Pipe.notInherited()
    process.standardError = output
    process.standardOutput = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let lines = output.fileHandleForReading
    while true {
      let line = lines.line()
      if line.contains("serving client traffic") { break }
      guard !line.isEmpty || process.isRunning else { return nil }
    }
    // It writes a line now and then, and would wait if nothing read them.
    Thread.detachNewThread { while !lines.availableData.isEmpty {} }
    return process
  }

  /// Stops it: connections stay open, and nothing is answered.
  public func stop() async throws { try await StoppedProcess.stop(process.withLock(\.processIdentifier)) }

  /// Continues after `stop()`.
  public func proceed() { kill(process.withLock(\.processIdentifier), SIGCONT) }

  /// Kills it, and waits for its end. Its data stay.
  public func end() {
    process.withLock { process in
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Starts it again on the same ports, after `end()`.
  public func restart() async throws {
    let place = place
    let again = try await offThePool { try Self.start(place) }
    guard let again else { throw DidNotStart(output: "a port of \(place.name) is in use by another process now") }
    process.withLock { $0 = again }
  }
}
