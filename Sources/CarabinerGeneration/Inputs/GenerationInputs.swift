internal import CarabinerFiles
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
    schema = try Self.schema(source)
    var bytesLeft = Self.maximumDocumentBytes
    var documents: [DocumentSource] = []
    for file in source.documents {
      let text = try source.text(of: file, maximumBytes: bytesLeft)
      bytesLeft -= text.utf8.count
      documents.append(DocumentSource(file: file, text: text))
    }
    self.documents = documents
  }

  private static func schema(_ source: InputFiles) throws(GeneratorError) -> Schema {
    let limits = SchemaLimits()
    switch source.settings.schema {
    case .introspection(let file):
      let text = try source.text(of: file.text, maximumBytes: limits.maximumIntrospectionBytes)
      do throws(SchemaError) {
        return try Schema(introspection: text, limits: limits)
      } catch {
        throw GeneratorError(problems: [GeneratorProblem(error, file: file.text)])
      }
    case .language:
      var texts: [SchemaSource] = []
      for file in source.schema {
        texts.append(SchemaSource(file: file, text: try source.text(of: file, maximumBytes: limits.maximumBytes)))
      }
      do throws(SchemaError) {
        return try Schema(parsing: texts, limits: limits)
      } catch {
        throw GeneratorError(problems: [GeneratorProblem(error, file: source.schema.first ?? "")])
      }
    }
  }
}

extension GeneratorProblem {
  /// - Parameter file: The file of a fault without a place.
  fileprivate init(_ error: SchemaError, file: String) {
    self.init(
      file: error.location?.file ?? file, line: error.location?.line ?? 1, column: error.location?.column ?? 1,
      message: error.message)
  }
}
