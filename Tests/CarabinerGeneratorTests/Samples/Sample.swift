import CarabinerGenerator
import CarabinerSchema
import Foundation

/// The library of the target GeneratedSample.
enum Sample {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "GeneratedSample")

  static func schema() throws -> Schema {
    let file = folder.appending(path: "library.graphqls")
    return try Schema(parsing: [SchemaSource(file: "library.graphqls", text: try String(contentsOf: file, encoding: .utf8))])
  }

  /// The documents of the sample.
  static func documents() throws -> [DocumentSource] {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder.appending(path: "Documents"), includingPropertiesForKeys: nil)
    return try files.map { DocumentSource(file: $0.lastPathComponent, text: try String(contentsOf: $0, encoding: .utf8)) }
  }

  /// The generated text of one document over the schema of the sample, without the file of scalars.
  static func text(_ document: String, _ change: (inout GeneratorConfiguration) -> Void = { _ in }) throws -> String {
    try text(document, schema: schema(), change)
  }

  /// One file that is generated for a document.
  static func file(_ name: String, _ document: String, _ change: (inout GeneratorConfiguration) -> Void) throws -> String {
    var configuration = GeneratorConfiguration()
    change(&configuration)
    let files = try CodeGenerator(schema: schema(), configuration: configuration)
      .files(for: [DocumentSource(file: "A.graphql", text: document)])
    return files.first { $0.name == name }?.text ?? ""
  }

  static func text(
    _ document: String, schema: Schema, _ change: (inout GeneratorConfiguration) -> Void = { _ in }
  ) throws -> String {
    var configuration = GeneratorConfiguration()
    change(&configuration)
    let files = try CodeGenerator(schema: schema, configuration: configuration)
      .files(for: [DocumentSource(file: "A.graphql", text: document)])
    return files.map(\.text).joined()
  }

  /// The problems of one document.
  static func problems(
    _ document: String, schema: Schema? = nil, _ change: (inout GeneratorConfiguration) -> Void = { _ in }
  ) throws -> [String] {
    do {
      _ = try text(document, schema: schema ?? self.schema(), change)
      return []
    } catch let error as GeneratorError {
      return error.problems.map(\.description)
    }
  }
}
