public import Foundation

/// A program that was run to its end.
///
/// It waits on threads of its own: tests share two or three threads, and one that waits for a compiler on them holds up all others.
public struct ToolRun: Sendable {
  /// The exit status; the number of the signal, negative, if one ended it.
  public let status: Int32
  /// What it wrote to standard output.
  public let output: String
  /// What it wrote to standard error.
  public let errors: String

  /// How many programs run at once; more would only get in each other's way.
  private static let slots = DispatchSemaphore(value: 4)

  /// Runs a program.
  ///
  /// - Parameters:
  ///   - environment: What is added to the environment of the tests.
  ///   - directory: Where it runs; the tests' own directory if nil.
  ///   - meanwhile: Called with the process's number once it has its input.
  public init(
    _ executable: URL, _ arguments: [String], input: String = "", environment: [String: String] = [:], in directory: URL? = nil,
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws {
    self = try await offThePool {
      Self.slots.wait()
      defer { Self.slots.signal() }
      return try Self(blocking: executable, arguments, Data(input.utf8), environment, directory, meanwhile)
    }
  }

  private init(
    blocking executable: URL, _ arguments: [String], _ input: Data, _ environment: [String: String], _ directory: URL?,
    _ meanwhile: (Int32) -> Void
  ) throws {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = directory }
    let standardInput = Pipe()
    let standardOutput = Pipe()
    let standardError = Pipe()
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    // Both ends are drained, so that a full pipe stops neither side.
    let errors = Drain(standardError.fileHandleForReading)
    try process.run()
    try? standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    meanwhile(process.processIdentifier)
    output = String(decoding: standardOutput.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = errors.text()
    process.waitUntilExit()
    status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}

/// Runs what blocks on a thread of its own, and waits for it without blocking.
public func offThePool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
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
