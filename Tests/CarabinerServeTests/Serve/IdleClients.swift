import Foundation
import Glibc
import TestTools

/// Connections of clients that send nothing, held by a separate process as long as this value lives.
final class IdleClients: Sendable {
  struct DidNotOpen: Error {
    let errors: String
  }

  private let processID: Int32
  /// The connections are held as long as this is open.
  private let input = Pipe.notInherited()

  init(_ count: Int, port: Int) throws {
    let process = ChildProcess()
    process.executableURL = Repository.python
    process.arguments = [
      Repository.root.appending(path: "Tests/Peers/idle_connections.py").path, "\(port)", "\(count)",
    ]
    let (output, errors) = (Pipe.notInherited(), Pipe.notInherited())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    guard output.fileHandleForReading.line() == "open \(count)" else {
      // A child of a thread that blocks signals inherits the mask. SIGKILL cannot be blocked.
      kill(process.processIdentifier, SIGKILL)
      throw DidNotOpen(errors: String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
    }
    processID = process.processIdentifier
  }

  /// Closes all connections.
  func hangUp() { try? input.fileHandleForWriting.close() }

  deinit { kill(processID, SIGKILL) }
}
