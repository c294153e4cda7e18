import Foundation
import TestTools

/// One run of the command as its users run it.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  struct NotBuilt: Error {
    let path: String
  }

  static let root = Repository.root

  /// Runs the command and waits for its end.
  ///
  /// - Parameter meanwhile: Called with the process's number once it has its input.
  init(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws {
    guard FileManager.default.isExecutableFile(atPath: Repository.command.path) else {
      throw NotBuilt(path: Repository.command.path)
    }
    let run = try await ToolRun(
      Repository.command, arguments, input: input, environment: environment, meanwhile: meanwhile)
    status = run.status
    output = run.output
    errors = run.errors
  }
}

/// The real GraphQL server of Tests/Peers, on a port of its own, for as long as this value lives.
final class StrawberryServer: Sendable {
  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let processID: Int32

  var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  convenience init(_ arguments: [String] = []) async throws {
    let started = try await offThePool { try Self.start(arguments) }
    self.init(started.port, started.processID)
  }

  private init(_ port: Int, _ processID: Int32) {
    self.port = port
    self.processID = processID
  }

  private static func start(_ arguments: [String]) throws -> (port: Int, processID: Int32) {
    let process = Process()
    process.executableURL = Repository.python
    process.arguments = [CommandRun.root.appending(path: "Tests/Peers/strawberry_server.py").path] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw DidNotStart(output: "run Scripts/install-test-peers first; \(text)") }
      text += String(decoding: data, as: UTF8.self)
    }
    guard let port = text.split(separator: " ").last.flatMap({ Int($0.filter(\.isNumber)) }) else {
      process.terminate()
      throw DidNotStart(output: text)
    }
    return (port, process.processIdentifier)
  }

  deinit { kill(processID, SIGKILL) }
}

/// A file that goes with this value.
final class TemporaryFile: Sendable {
  let path: String

  init(_ text: String, suffix: String = ".yaml") throws {
    path = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)\(suffix)").path
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  deinit { _ = try? FileManager.default.removeItem(atPath: path) }
}
