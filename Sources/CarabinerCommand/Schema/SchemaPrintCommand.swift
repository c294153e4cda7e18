internal import ArgumentParser
internal import CarabinerSchema

/// `carabiner schema print`: a schema in the schema definition language.
struct SchemaPrintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "print", abstract: "Print a schema in the schema definition language.",
    discussion: """
      Several files are printed as one schema. The form is canonical: equal schemas give equal texts.

      Exit status: 0 ok, 2 usage, 3 a file cannot be read.
      """)

  @Flag(name: .long, help: "Sort types, fields, arguments and values by name.") var sorted = false
  @Argument(help: "The files of the schema.", completion: .file()) var files: [String]

  func run() throws {
    let text = try SchemaArguments.schema(of: files).text(isSorted: sorted)
    Terminal.emit(text.hasSuffix("\n") ? String(text.dropLast()) : text)
  }
}
