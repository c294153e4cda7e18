public import CarabinerWire
internal import Foundation
internal import Synchronization
internal import TestTools

/// `carabiner serve` on its own port, running as long as this value lives.
public final class ServeProcess: Sendable {
  /// The outputs and the exit status of a gateway that did not print its address.
  public struct DidNotStart: Error {
    public let output: String
    public let errors: String
    public let status: Int32
  }

  /// The port on loopback.
  public let port: Int
  /// The number of the process.
  public let processID: Int32
  /// The folder of the manifest and the admin socket.
  public let folder: StoreFolder
  private let process: Mutex<ChildProcess>
  private let log: String

  /// The URL of the gateway.
  public var origin: String { "http://127.0.0.1:\(port)" }
  /// The URL of its GraphQL endpoint.
  public var endpoint: String { "\(origin)/graphql" }
  /// The path of its admin socket.
  public let socket: String
  /// The address of its admin socket, for `--admin`.
  public var admin: String { "unix:\(socket)" }
  /// The contents of standard error so far.
  public var errors: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  /// Starts a gateway and waits until it listens.
  ///
  /// - Parameters:
  ///   - folder: The folder of the manifest and the admin socket.
  ///   - source: The address of a manifest that is not a file.
  ///   - endpoint: The URL of the upstream; nil for the one in the manifest.
  ///   - socket: Another path for the admin socket.
  ///   - listensByFlag: Whether `--listen` names the address, and not the manifest. Its first listener must be on 127.0.0.1 then.
  ///   - prefix: A program that starts the command, with its arguments.
  public init(
    _ folder: StoreFolder, manifest: String = "chain.yaml", source: String? = nil, endpoint: String?, _ arguments: [String] = [],
    environment: [String: String] = [:], socket: String? = nil, listensByFlag: Bool = true,
    through prefix: [String] = []
  ) throws {
    self.folder = folder
    // The path of a socket is limited to 107 bytes. Two gateways can share a folder, so the name is random.
    self.socket = socket ?? folder.file("\(UInt16.random(in: 0...(.max))).sock")
    let process = ChildProcess()
    let command = prefix + [CommandRun.root.appending(path: ".build/debug/carabiner").path]
    process.executableURL = URL(filePath: command[0])
    var words = Array(command.dropFirst()) + ["serve", "-m", source ?? folder.file(manifest), "--admin", "unix:\(self.socket)"]
    if listensByFlag { words += ["--listen", "127.0.0.1:0"] }
    if let endpoint { words += ["--endpoint", endpoint] }
    process.arguments = words + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    log = folder.file("serve-\(UUID().uuidString).log")
    try Data().write(to: URL(filePath: log))
    if let file = FileHandle(forWritingAtPath: log) { process.standardError = file }
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let line = output.fileHandleForReading.line()
    guard !line.isEmpty else {
      process.waitUntilExit()
      throw DidNotStart(
        output: line, errors: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "", status: process.terminationStatus)
    }
    guard let port = Self.port(in: line) else {
      process.terminate()
      throw DidNotStart(output: line, errors: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "", status: 0)
    }
    self.port = port
    processID = process.processIdentifier
    self.process = Mutex(process)
  }

  deinit { kill(processID, SIGKILL) }

  /// The port in the first line of output, which is text or JSON.
  private static func port(in line: String) -> Int? {
    let text = (try? JSONValue(parsing: Array(line.utf8)))?["address"]?.string.map { "listening \($0)" } ?? line
    return text.wholeMatch(of: /listening 127.0.0.1:(\d+)/).flatMap { Int($0.1) }
  }

  /// Sends a query by POST.
  public func query(_ query: String, headers: [String] = []) throws -> RawAnswer {
    let body = JSONValue.object(["query": .string(query)])
    return try RawAnswer(endpoint, body: body.description, headers: headers)
  }

  /// Runs a command that uses the admin socket.
  public func ask(_ arguments: String...) async throws -> CommandRun {
    try await CommandRun(arguments + ["--admin", admin])
  }

  /// The report of `carabiner status`.
  public func status() async throws -> JSONValue {
    try JSONValue(parsing: try await ask("status", "--format", "json").output)
  }

  /// The current resident memory.
  public func residentBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
  }

  /// Sends a signal and waits for the process to end. Returns the exit status, or the negative number of the signal that ended
  /// it.
  public func end(with signal: Int32) -> Int32 {
    kill(processID, signal)
    return wait()
  }

  /// Waits for the process to end. Returns the exit status, or the negative number of the signal that ended it.
  public func wait() -> Int32 {
    process.withLock { process in
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
  }
}
