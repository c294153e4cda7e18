internal import CarabinerGenerator

/// The content of a configuration file. Paths are relative to the folder of the file.
struct GenerationSettings: Sendable, Hashable {
  /// The files with the schema.
  enum SchemaFiles: Sendable, Hashable {
    /// Globs of files in the schema definition language.
    case language([PlacedText])
    /// A file with an introspection result in JSON.
    case introspection(PlacedText)
  }

  /// The name of the file with mocks.
  static let mocksFile = "Mocks.graphql.swift"

  /// The files with the schema.
  var schema: SchemaFiles
  /// Globs of the documents.
  var documents: [PlacedText]
  /// The folder of the generated files.
  var folder: String
  /// Whether the file of a document is beside it.
  var isBesideDocuments = false
  /// How code is generated.
  var generator = GeneratorConfiguration()
}
