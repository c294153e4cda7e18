internal import ArgumentParser

/// An error of a command. Its message is for people.
struct CommandError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cause, for the program.
  enum Code: Sendable {
    /// A name or an id is not valid.
    case invalidName
    /// A path exists already, or its parent folder does not.
    case invalidPath
    /// The file system reported an error while files were written.
    case writingFailed
    /// The response of a gateway is not in Prometheus' text format.
    case malformedMetrics
  }

  let code: Code
  let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  var description: String { message }
}

extension CommandError {
  /// - Parameter line: The first line that cannot be parsed, counted from 1.
  static func malformedMetrics(line: Int) -> CommandError {
    CommandError(.malformedMetrics, "line \(line) of the metrics cannot be parsed")
  }
}

/// An error in the arguments of the command line.
func usageError(_ message: String) -> ValidationError { ValidationError(message) }
