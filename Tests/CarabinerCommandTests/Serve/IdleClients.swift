import Foundation
import Glibc
import TestTools

/// Connections of clients that send nothing, held by a process of their own for as long as this value lives.
final class IdleClients: Sendable {
  struct DidNotOpen: Error {
    let errors: String
  }

  private let processID: Int32
  /// Open for as long as they are held.
  private let input = Pipe()

  init(_ count: Int, port: Int) throws {
    let process = Process()
    process.executableURL = Repository.python
    process.arguments = [
      Repository.root.appending(path: "Tests/Peers/idle_connections.py").path, "\(port)", "\(count)",
    ]
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    guard Self.line(of: output.fileHandleForReading) == "open \(count)" else {
      // A child of a thread that blocks signals blocks them too, all but this.
      kill(process.processIdentifier, SIGKILL)
      throw DidNotOpen(errors: String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
    }
    processID = process.processIdentifier
  }

  /// A line, or what there is of it; a signal in the middle of the waiting is no end.
  private static func line(of handle: FileHandle) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(handle.fileDescriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Closes all of them.
  func hangUp() { try? input.fileHandleForWriting.close() }

  deinit { kill(processID, SIGKILL) }
}
