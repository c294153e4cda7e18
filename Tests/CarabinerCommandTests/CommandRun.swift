import Foundation

/// One run of the command as its users run it.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  struct NotBuilt: Error {
    let path: String
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Runs the command and waits for its end.
  ///
  /// - Parameter meanwhile: Called with the process's number once it has its input.
  init(
    _ arguments: [String], input: String = "", environment: [String: String] = [:], meanwhile: (Int32) -> Void = { _ in }
  ) throws {
    let process = Process()
    process.executableURL = Self.root.appending(path: ".build/debug/carabiner")
    guard FileManager.default.isExecutableFile(atPath: process.executableURL?.path ?? "") else {
      throw NotBuilt(path: process.executableURL?.path ?? "")
    }
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let standardInput = Pipe()
    let standardOutput = Pipe()
    let standardError = Pipe()
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    // Both ends are drained, so that a full pipe stops neither side.
    let errors = Drain(standardError.fileHandleForReading)
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    meanwhile(process.processIdentifier)
    output = String(decoding: standardOutput.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = errors.text()
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}

/// Reads a pipe to its end on a thread of its own.
private final class Drain: @unchecked Sendable {
  // The text is written before the semaphore is signalled and read after it was waited for.

  private let done = DispatchSemaphore(value: 0)
  private var contents = ""

  init(_ handle: FileHandle) {
    Thread.detachNewThread { [self] in
      contents = String(decoding: handle.readDataToEndOfFile(), as: UTF8.self)
      done.signal()
    }
  }

  func text() -> String {
    done.wait()
    return contents
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

  init(_ arguments: [String] = []) throws {
    let process = Process()
    let python =
      ProcessInfo.processInfo.environment["CARABINER_TEST_PYTHON"]
      ?? CommandRun.root.appending(path: ".build/test-peers/bin/python").path
    process.executableURL = URL(filePath: python)
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
    self.port = port
    processID = process.processIdentifier
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
