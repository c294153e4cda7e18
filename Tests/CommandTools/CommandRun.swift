public import Foundation
internal import TestTools

/// One run of the command in a process of its own.
public struct CommandRun: Sendable {
  /// The exit status, or the negative number of the signal that ended it.
  public let status: Int32
  /// The contents of standard output.
  public let output: String
  /// The contents of standard error.
  public let errors: String

  /// The command is not in the build folder of the tests.
  public struct NotBuilt: Error {
    public let path: String
  }

  /// The root of the checkout.
  public static let root: URL = Repository.root

  /// The beginning of a run of the harness: its checks have time, because the machine of a test may be busy. A later `--time-scale`
  /// replaces it.
  public static let patientConform = ["conform", "--time-scale", "10"]

  /// Runs the command and waits for its end.
  ///
  /// - Parameters:
  ///   - meanwhile: Called with the process id after the input was written.
  ///   - onFirstLine: Called with the process id after the first line of output, if there is one.
  public init(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    meanwhile: @escaping @Sendable (Int32) -> Void = { _ in }, onFirstLine: (@Sendable (Int32) -> Void)? = nil
  ) async throws {
    guard FileManager.default.isExecutableFile(atPath: Repository.command.path) else {
      throw NotBuilt(path: Repository.command.path)
    }
    let words = arguments.first == "conform" ? Self.patientConform + arguments.dropFirst() : arguments
    let run = try await ToolRun(
      Repository.command, words, input: input, environment: environment, meanwhile: meanwhile,
      onFirstLine: onFirstLine)
    status = run.status
    output = run.output
    errors = run.errors
  }
}

/// A file that is removed with this value.
public final class TemporaryFile: Sendable {
  /// The path of the file.
  public let path: String

  /// Writes the text to a file with a new name.
  public init(_ text: String, suffix: String = ".yaml") throws {
    path = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)\(suffix)").path
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  deinit { _ = try? FileManager.default.removeItem(atPath: path) }
}
