public import Foundation

/// A program that has run to its end.
///
/// It waits on separate threads: tests share two or three threads, and a test that blocks one of them delays all others.
public struct ToolRun: Sendable {
  /// The exit status, or the negative number of the signal that ended it.
  public let status: Int32
  /// The contents of standard output.
  public let output: String
  /// The contents of standard error.
  public let errors: String

  /// The maximum number of programs at the same time. With more, each would be slower.
  private static let slots = DispatchSemaphore(value: 4)

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - environment: Variables added to the environment of the tests.
  ///   - directory: The working directory; that of the tests if nil.
  ///   - meanwhile: Called with the process id after the input was written.
  ///   - onFirstLine: Called with the process id after the first line of output, if there is one.
  public init(
    _ executable: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:], in directory: URL? = nil,
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }, onFirstLine: (@Sendable (Int32) -> Void)? = nil
  ) async throws {
    self = try await offThePool {
      Self.slots.wait()
      defer { Self.slots.signal() }
      return try Self(blocking: executable, arguments, Data(input.utf8), environment, directory, meanwhile, onFirstLine)
    }
  }

  private init(
    blocking executable: URL, _ arguments: [String], _ input: Data, _ environment: [String: String], _ directory: URL?,
    _ meanwhile: (Int32) -> Void, _ onFirstLine: ((Int32) -> Void)?
  ) throws {
    let process = ChildProcess()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = directory }
    let standardInput = Pipe.notInherited()
    let standardOutput = Pipe.notInherited()
    let standardError = Pipe.notInherited()
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    // Both pipes are read to the end, so that a full pipe blocks neither side.
    let errors = Drain(standardError.fileHandleForReading)
    try process.run()
    try? standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    meanwhile(process.processIdentifier)
    var firstLine = ""
    if let onFirstLine {
      firstLine = standardOutput.fileHandleForReading.line()
      if !firstLine.isEmpty {
        firstLine += "\n"
        onFirstLine(process.processIdentifier)
      }
    }
    output =
      firstLine
      + String(decoding: standardOutput.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = errors.text()
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}

/// Runs blocking code on a separate thread, and waits for it without blocking.
public func offThePool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Reads a pipe to its end on a separate thread.
private final class Drain: @unchecked Sendable {
  // The text is written before the semaphore is signalled, and read after the wait.

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
