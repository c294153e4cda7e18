import CarabinerWire
import Foundation
import TestTools

/// The server of Tests/Peers on a port of its own, for as long as this value lives.
final class RealServer: Sendable {
  struct DidNotStart: Error {
    let output: String
  }

  let port: Int
  private let processID: Int32

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
    process.arguments = [Repository.root.appending(path: "Tests/Peers/strawberry_server.py").path] + arguments
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

  func url(_ path: String = "/graphql", scheme: String = "ws", host: String = "127.0.0.1") throws -> URL {
    guard let url = URL(string: "\(scheme)://\(host):\(port)\(path)") else { throw CocoaError(.fileNoSuchFile) }
    return url
  }

  /// How many endless subscriptions run at the server, and how many were ended.
  func subscriptions() async throws -> (running: Int?, ended: Int?) {
    let asked = try await ToolRun(URL(filePath: "/usr/bin/curl"), ["-sS", "http://127.0.0.1:\(port)/subscriptions"])
    let json = try JSONValue(parsing: asked.output)
    return (json["running"]?.int, json["ended"]?.int)
  }

  deinit { kill(processID, SIGKILL) }
}
