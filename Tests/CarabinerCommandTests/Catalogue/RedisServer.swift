import Foundation
import Synchronization
import TestTools

/// A `redis-server` on a port of its own, running as long as this value lives.
final class RedisServer: Sendable {
  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let arguments: [String]
  private let folder: StoreFolder
  private let process: Mutex<ChildProcess>

  var url: String { "redis://127.0.0.1:\(port)" }

  /// - Parameters:
  ///   - arguments: Settings of redis-server, beside those for the address.
  ///   - isSecure: Whether it takes TLS only. The arguments name its certificate.
  init(_ arguments: [String] = [], isSecure: Bool = false) async throws {
    let folder = try StoreFolder()
    let (process, port) = try await offThePool {
      for _ in 0..<50 {
        let port = Int.random(in: 20_000..<32_000)
        if let process = try Self.start(port, arguments, isSecure, folder) { return (process, port) }
      }
      throw DidNotStart(output: "no port was free, or redis-server is missing; run Scripts/install-test-peers first")
    }
    self.process = Mutex(process)
    self.port = port
    self.arguments = arguments
    self.folder = folder
  }

  deinit {
    let id = process.withLock(\.processIdentifier)
    kill(id, SIGCONT)
    kill(id, SIGKILL)
  }

  /// Nil if it ended, for example because the port was in use.
  private static func start(_ port: Int, _ arguments: [String], _ isSecure: Bool, _ folder: StoreFolder) throws -> ChildProcess? {
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
  func stop() async throws { try await StoppedProcess.stop(process.withLock(\.processIdentifier)) }

  /// Continues after `stop()`.
  func proceed() { kill(process.withLock(\.processIdentifier), SIGCONT) }

  /// Kills it, and waits for its end. Its data are lost.
  func end() {
    process.withLock { process in
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Starts it again on the same port, after `end()`.
  func restart() async throws {
    let (port, arguments, folder) = (port, arguments, folder)
    let again = try await offThePool { try Self.start(port, arguments, false, folder) }
    guard let again else { throw DidNotStart(output: "the port \(port) is in use by another process now") }
    process.withLock { $0 = again }
  }

  /// The output of redis-cli, without the last line break.
  func ask(_ words: String...) throws -> String {
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

  /// The keys of stored responses.
  func entries() throws -> [String] {
    try ask("KEYS", "*:q:*").split(separator: "\n").map(String.init)
  }
}
