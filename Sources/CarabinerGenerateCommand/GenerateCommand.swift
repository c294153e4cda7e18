package import ArgumentParser
internal import CarabinerGeneration
internal import CarabinerGenerator
internal import Foundation

/// `carabiner generate`, and the program `carabiner-generate`: Swift code from a schema and documents.
package struct GenerateCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Generate Swift code from a schema and GraphQL documents.",
    discussion: """
      The configuration names the schema, the documents and the output folder. The least is:

          schema: [schema.graphqls]
          documents: ["**/*.graphql"]
          output: {folder: Generated}

      Files without changes are not written. Files that were generated before and have no source now are removed. Each fault is printed as
      FILE:LINE:COLUMN: error: fault; remedy, and then nothing is written.

      Exit status: 0 ok, 1 a file would change (with --check), 2 usage, 3 the configuration, the schema or a document has a fault, or a file
      cannot be written.
      """,
    subcommands: [GenerateInitCommand.self, GenerateSchemaCommand.self])

  @Option(name: .long, help: "The configuration.", completion: .file()) var config = GenerationRequest.standardConfiguration
  @Flag(name: .long, help: "Write nothing, and print the files that would change.") var check = false
  @Flag(name: .long, help: "Generate again after each change, until the command is interrupted.") var watch = false
  @Option(
    name: .long,
    help: "The folder of all generated files, for build systems. It replaces that of the configuration.", completion: .directory)
  var output: String?
  @Option(
    name: .customLong("document"), parsing: .singleValue,
    help:
      "A document, for build systems. The documents of the configuration are ignored, and each of these has a generated file.",
    completion: .file())
  var documents: [String] = []

  package init() {}

  package func validate() throws {
    if check, watch { throw ValidationError("--check and --watch exclude each other; leave one out") }
  }

  package func run() async throws {
    let request = GenerationRequest(
      configuration: config, documents: documents.isEmpty ? nil : documents.map(Self.absolute),
      output: output.map(Self.absolute))
    let run = GenerationRun(request)
    guard watch else { return try generate(run) }
    // The next change may correct a fault, so a fault does not end the watch.
    await GenerationWatch(run)() { try? generate(run) }
  }

  private func generate(_ run: GenerationRun) throws {
    let changes: OutputChanges
    do throws(GeneratorError) {
      changes = try run.changes()
      if !check { try changes.apply() }
    } catch {
      Console.complain(error.description)
      throw GenerateStatus.refused
    }
    report(changes)
    if check, !changes.isEmpty { throw GenerateStatus.outdated }
  }

  private func report(_ changes: OutputChanges) {
    // Nothing is printed in a build, where output is only useful if there is a fault.
    guard documents.isEmpty else { return }
    for file in changes.written { Console.emit("\(check ? "would write" : "wrote") \(file)") }
    for file in changes.removed { Console.emit("\(check ? "would remove" : "removed") \(file)") }
  }

  /// The absolute path of an argument. Paths in arguments are relative to the working folder, and those in the configuration to its
  /// folder.
  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}
