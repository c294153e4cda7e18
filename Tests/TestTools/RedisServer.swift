internal import Foundation
internal import Glibc
internal import Synchronization

/// A `redis-server` on a port of its own, running as long as this value lives.
public final class RedisServer: Sendable {
  /// The reason why it does not run.
  public struct DidNotStart: Error {
    public let output: String
  }

  /// The port on loopback.
  public let port: Int
  private let arguments: [String]
  private let isSecure: Bool
  private let folder: URL
  private let process: Mutex<ChildProcess>

  /// The URL, without TLS.
  public var url: String { "redis://127.0.0.1:\(port)" }

  /// Starts a server without persistence.
  ///
  /// - Parameters:
  ///   - arguments: Settings of redis-server, beside those for the address.
  ///   - isSecure: Whether it takes TLS only. The arguments name its certificate.
  public init(_ arguments: [String] = [], isSecure: Bool = false) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carabiner-redis-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (process, port) = try await offThePool {
      for _ in 0..<50 {
        // A node of a cluster also listens at this port plus 10,000, and does not start if that is in use.
        let port = Int.random(in: 20_000..<32_000)
        if let process = try Self.start(port, arguments, isSecure, folder) { return (process, port) }
      }
      throw DidNotStart(output: "no port was free, or redis-server is missing; run Scripts/install-test-peers first")
    }
    self.process = Mutex(process)
    self.port = port
    self.arguments = arguments
    self.isSecure = isSecure
    self.folder = folder
  }

  deinit {
    let id = process.withLock(\.processIdentifier)
    kill(id, SIGCONT)
    kill(id, SIGKILL)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Nil if it ended, for example because the port was in use.
  private static func start(_ port: Int, _ arguments: [String], _ isSecure: Bool, _ folder: URL) throws -> ChildProcess? {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/bin/redis-server")
    let address = isSecure ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"]
    process.arguments =
      address + ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.path] + arguments
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    while true {
      let line = output.fileHandleForReading.line()
      if line.contains("Ready to accept connections") { return process }
      guard !line.isEmpty || process.isRunning else { return nil }
    }
  }

  /// Stops it: connections stay open, and nothing is answered.
  public func stop() async throws { try await StoppedProcess.stop(process.withLock(\.processIdentifier)) }

  /// Continues after `stop()`.
  public func proceed() { kill(process.withLock(\.processIdentifier), SIGCONT) }

  /// Kills it, and waits for its end. Its data are lost.
  public func end() {
    process.withLock { process in
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Starts it again on the same port, after `end()`.
  public func restart() async throws {
    let (port, arguments, isSecure, folder) = (port, arguments, isSecure, folder)
    let again = try await offThePool { try Self.start(port, arguments, isSecure, folder) }
    guard let again else { throw DidNotStart(output: "the port \(port) is in use by another process now") }
    process.withLock { $0 = again }
  }

  /// The output of redis-cli, without the last line break.
  public func ask(_ words: String...) throws -> String { try ask(words) }

  /// The output of redis-cli, without the last line break.
  public func ask(_ words: [String]) throws -> String {
    let process = ChildProcess()
    process.executableURL = URL(filePath: "/usr/bin/redis-cli")
    process.arguments = ["-p", "\(port)"] + words
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.trimmingCharacters(in: .newlines)
  }
}
