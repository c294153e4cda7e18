internal import ArgumentParser
internal import CarabinerSchema

/// `carabiner schema check`: the problems of a schema.
struct SchemaCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Validate a schema by the rules of the specification.",
    discussion: """
      Each problem is printed as FILE:LINE:COLUMN: error: problem; remedy [rule].

      Exit status: 0 without problems, 2 usage, 3 a problem was found, or a file cannot be read.
      """)

  @Argument(help: "The files of the schema.", completion: .file()) var files: [String]

  func run() throws {
    let problems = try SchemaArguments.schema(of: files).validate()
    for problem in problems { Terminal.complain(problem.description) }
    guard problems.isEmpty else { throw ExitStatus.refused }
    Terminal.emit("\(files.joined(separator: ", ")): ok")
  }
}
