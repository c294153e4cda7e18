internal import ArgumentParser

/// `carabiner schema`: prints, validates and compares schemas.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Fetch, print, validate and compare the schemas of GraphQL servers.",
    discussion: """
      A schema is one or several files in the schema definition language, or one introspection result whose name ends with .json.
      """,
    subcommands: [SchemaFetchCommand.self, SchemaPrintCommand.self, SchemaCheckCommand.self, SchemaDifferenceCommand.self])
}
