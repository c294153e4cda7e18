import Foundation
import Synchronization

/// `carabiner demo-server` on a port of its own, for as long as this value lives.
final class DemoServerProcess: Sendable {
  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let processID: Int32
  private let process: Mutex<Process>

  var endpoint: String { "http://127.0.0.1:\(port)/graphql" }

  init(_ arguments: [String] = [], environment: [String: String] = [:]) throws {
    let process = Process()
    process.executableURL = CommandRun.root.appending(path: ".build/debug/carabiner")
    process.arguments = ["demo-server", "--quiet"] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw DidNotStart(output: text) }
      text += String(decoding: data, as: UTF8.self)
    }
    guard let port = text.wholeMatch(of: /listening (\d+)\n/).flatMap({ Int($0.1) }) else {
      process.terminate()
      throw DidNotStart(output: text)
    }
    self.port = port
    processID = process.processIdentifier
    self.process = Mutex(process)
  }

  deinit { kill(processID, SIGKILL) }

  /// Sends a signal and waits for the end; gives the exit status, or the negative signal it died of.
  func end(with signal: Int32) -> Int32 {
    kill(processID, signal)
    return process.withLock { process in
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }
  }
}

/// An answer as curl, which knows nothing of GraphQL, sees it.
struct RawAnswer {
  let status: Int
  /// The head's lines.
  let head: [String]
  let body: Data
  /// What curl says of the transfer; 28 if it was broken off after the time it had.
  let curlStatus: Int32

  var text: String { String(decoding: body, as: UTF8.self) }

  /// - Parameter seconds: How long the transfer may take before it is broken off.
  init(_ url: String, body: String? = nil, headers: [String] = [], within seconds: Double = 20) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/curl")
    process.arguments =
      ["-sS", "-i", "-N", "--max-time", "\(seconds)", "-H", "Content-Type: application/json"]
      + headers.flatMap { ["-H", $0] } + (body.map { ["--data-binary", $0.count > 10_000 ? "@-" : $0] } ?? []) + [url]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // A server that refuses a large body may hang up before it has read it.
    signal(SIGPIPE, SIG_IGN)
    if let body, body.count > 10_000 { try? input.fileHandleForWriting.write(contentsOf: Data(body.utf8)) }
    try? input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    curlStatus = process.terminationStatus
    let end = data.firstRange(of: Data("\r\n\r\n".utf8))
    head = String(decoding: data[..<(end?.lowerBound ?? data.endIndex)], as: UTF8.self).components(separatedBy: "\r\n")
    self.body = Data(data[(end?.upperBound ?? data.endIndex)...])
    status = head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
