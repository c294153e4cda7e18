internal import CarabinerGenerator
internal import CarabinerSchema

/// The configuration, the schema and the documents of one run. Paths are relative to the folder of the configuration.
struct GenerationInputs {
  /// The maximum size of a configuration in bytes.
  static let maximumSettingsBytes = 1 << 20
  /// The maximum number of schema files.
  static let maximumSchemaFiles = 10_000
  /// The maximum number of documents.
  static let maximumDocuments = 50_000
  /// The maximum size of all documents in bytes.
  static let maximumDocumentBytes = 64 << 20

  let settings: GenerationSettings
  let schema: Schema
  let documents: [DocumentSource]

  init(_ source: InputFiles) throws(GeneratorError) {
    settings = source.settings
    let isIntrospection = if case .introspection = source.settings.schema { true } else { false }
    schema = try SchemaFiles.schema(source.schema, isIntrospection: isIntrospection) { file, maximum throws(GeneratorError) in
      try source.text(of: file, maximumBytes: maximum)
    }
    var bytesLeft = Self.maximumDocumentBytes
    var documents: [DocumentSource] = []
    for file in source.documents {
      let text = try source.text(of: file, maximumBytes: bytesLeft)
      bytesLeft -= text.utf8.count
      documents.append(DocumentSource(file: file, text: text))
    }
    self.documents = documents
  }
}
