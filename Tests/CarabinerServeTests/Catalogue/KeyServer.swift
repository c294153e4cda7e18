import CommandTools
import Foundation
import TestTools

/// A server of key sets on its own port, running as long as this value lives.
///
/// The keys are those of the file `jwks.json` in a folder, at the time of each request.
final class KeyServer: Sendable {
  let port: Int
  private let processID: Int32

  init(folder: String) async throws {
    (port, processID) = try await offThePool {
      let process = ChildProcess()
      process.executableURL = URL(filePath: "/usr/bin/python3")
      process.arguments = [Repository.root.appending(path: "Tests/Peers/key_server.py").path, folder]
      let output = Pipe.notInherited()
      process.standardOutput = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let line = output.fileHandleForReading.line()
      guard let port = line.wholeMatch(of: /listening (\d+)/).flatMap({ Int($0.1) }) else {
        process.terminate()
        throw DemoServerProcess.DidNotStart(output: line)
      }
      return (port, process.processIdentifier)
    }
  }

  deinit { end() }

  /// The URL of a path: `jwks`, or `huge`, a key set of 100 MB, `count`, the number of requests for keys, or `refusing`, which has the
  /// status 500.
  func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

  /// Ends the server. Later requests find no server.
  func end() { kill(processID, SIGKILL) }
}
