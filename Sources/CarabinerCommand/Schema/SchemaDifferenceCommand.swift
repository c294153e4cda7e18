public import ArgumentParser
public import CarabinerSchema

/// `carabiner schema diff`: the differences of two schemas.
struct SchemaDifferenceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print the differences of two schemas.",
    discussion: """
      Each difference is breaking, dangerous or safe for existing clients. After a breaking one, a valid operation may be invalid. After a
      dangerous one, a client may get results that it does not expect.

      Exit status: 0 no difference of the severity of --fail-on or above, 1 there is one, 2 usage, 3 a file cannot be read.
      """)

  @Option(name: .long, help: "The lowest severity that fails: breaking, dangerous or safe.")
  var failOn: SchemaDifference.Severity = .breaking
  @Argument(help: "The file of the old schema.", completion: .file()) var old: String
  @Argument(help: "The file of the new schema.", completion: .file()) var new: String

  func run() throws {
    let differences = try SchemaArguments.schema(of: [new]).differences(since: SchemaArguments.schema(of: [old]))
    for difference in differences { Terminal.emit(difference.description) }
    // The cases begin with the most severe one.
    let allowed = SchemaDifference.Severity.allCases.drop { $0 != failOn }.dropFirst()
    if differences.contains(where: { !allowed.contains($0.severity) }) { throw ExitStatus.difference }
  }
}

extension SchemaDifference.Severity: ExpressibleByArgument {}
