/// A fault of a schema or a document, from which no code can be generated.
public struct GeneratorProblem: Sendable, Hashable, CustomStringConvertible {
  /// The name of the file; empty if it is not known.
  public let file: String
  /// The line, counted from 1.
  public let line: Int
  /// The column in Unicode characters, counted from 1.
  public let column: Int
  /// The description of the fault, and what to do.
  public let message: String

  package init(file: String, line: Int = 1, column: Int = 1, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  /// The problem in one line, as compilers write it: `file:line:column: error: message`.
  public var description: String { (file.isEmpty ? "" : "\(file):\(line):\(column): ") + "error: \(message)" }
}

/// No code can be generated from a schema and documents.
public struct GeneratorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The faults, in the order of the files.
  public let problems: [GeneratorProblem]

  package init(problems: [GeneratorProblem]) { self.problems = problems }

  /// The problems, one per line.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
