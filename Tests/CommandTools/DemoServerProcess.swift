internal import Foundation
internal import Synchronization
internal import TestTools

/// `carabiner demo-server` on its own port, running as long as this value lives.
public final class DemoServerProcess: Sendable {
  /// The output of the server instead of its port.
  public struct DidNotStart: Error {
    public let output: String

    /// A failure with the server's first line of output.
    public init(output: String) { self.output = output }
  }

  /// The port on loopback.
  public let port: Int
  private let processID: Int32
  private let process: Mutex<ChildProcess>

  /// The URL of its GraphQL endpoint.
  public var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  /// Starts a server, with options of the command and additional variables.
  public init(_ arguments: [String] = [], environment: [String: String] = [:]) throws {
    let process = ChildProcess()
    process.executableURL = CommandRun.root.appending(path: ".build/debug/carabiner")
    process.arguments = ["demo-server", "--quiet"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe.notInherited()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let line = output.fileHandleForReading.line()
    guard let port = line.wholeMatch(of: /listening (\d+)/).flatMap({ Int($0.1) }) else {
      process.terminate()
      throw DidNotStart(output: line)
    }
    self.port = port
    processID = process.processIdentifier
    self.process = Mutex(process)
  }

  deinit { kill(processID, SIGKILL) }

  /// Sends a signal and waits for the process to end. Returns the exit status, or the negative number of the signal that ended
  /// it.
  public func end(with signal: Int32) -> Int32 {
    kill(processID, signal)
    return process.withLock { process in
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
  }
}
