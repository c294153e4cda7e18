internal import ArgumentParser
internal import CarabinerGeneration

/// `carabiner generate schema`: the JSON Schema of configurations, for editors.
struct GenerateSchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of configurations, for editors.",
    discussion: """
      The comment # yaml-language-server: $schema=FILE at the head of a configuration enables completion.

      Exit status: 0 ok, 2 usage.
      """)

  func run() { Console.emit(GenerationRequest.configurationSchema) }
}
