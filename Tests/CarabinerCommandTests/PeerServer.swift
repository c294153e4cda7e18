import Foundation
import TestTools

/// A real GraphQL server of Tests/Peers, on a port of its own, for as long as this value lives.
class PeerServer: @unchecked Sendable {
  // Nothing changes after its start; a class with subclasses cannot say so otherwise.

  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let processID: Int32

  init(script: String, _ arguments: [String]) async throws {
    (port, processID) = try await offThePool { try Self.start(script, arguments) }
  }

  private static func start(_ script: String, _ arguments: [String]) throws -> (port: Int, processID: Int32) {
    let process = Process()
    process.executableURL = Repository.python
    process.arguments = [Repository.root.appending(path: "Tests/Peers/\(script)").path] + arguments
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

/// Strawberry on uvicorn.
final class StrawberryServer: PeerServer, @unchecked Sendable {
  var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  init(_ arguments: [String] = []) async throws { try await super.init(script: "strawberry_server.py", arguments) }
}

/// Ariadne on hypercorn.
final class AriadneServer: PeerServer, @unchecked Sendable {
  var endpoint: String { "http://127.0.0.1:\(port)/" }

  init(_ arguments: [String] = []) async throws { try await super.init(script: "ariadne_server.py", arguments) }
}
