import Foundation
import TestTools

/// One run of the command in a process of its own.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  struct NotBuilt: Error {
    let path: String
  }

  static let root = Repository.root

  /// The beginning of a run of the harness: its checks have time, because the machine of a test may be busy. A later `--time-scale`
  /// replaces it.
  static let patientConform = ["conform", "--time-scale", "10"]

  /// Runs the command and waits for its end.
  ///
  /// - Parameters:
  ///   - meanwhile: Called with the process id after the input was written.
  ///   - onFirstLine: Called with the process id after the first line of output, if there is one.
  init(
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
final class TemporaryFile: Sendable {
  let path: String

  init(_ text: String, suffix: String = ".yaml") throws {
    path = FileManager.default.temporaryDirectory.appending(path: "carabiner-\(UUID().uuidString)\(suffix)").path
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  deinit { _ = try? FileManager.default.removeItem(atPath: path) }
}
