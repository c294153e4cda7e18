import CarabinerGeneration
import CarabinerGenerator
import Foundation
import TestTools

/// A folder with a schema, documents and a configuration.
struct Project {
  static let schema = "type Query { book: Book }\ntype Book { title: String! genre: Genre }\nenum Genre { NOVEL }\n"
  static let settings = "schema: schema.graphqls\ndocuments: [\"**/*.graphql\"]\noutput: {folder: Generated}\n"

  private let folder: FixturePlugin.Folder
  /// The folder.
  var url: URL { folder.url }
  var request: GenerationRequest

  init(_ files: [String: String] = [:], settings: String = Project.settings) throws {
    folder = try FixturePlugin.Folder()
    request = GenerationRequest(configuration: folder.url.appending(path: "carabiner-generate.yaml").path)
    try write("carabiner-generate.yaml", settings)
    try write("schema.graphqls", Self.schema)
    for (name, text) in files { try write(name, text) }
  }

  func write(_ name: String, _ text: String) throws {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  func text(_ name: String) throws -> String { try String(contentsOf: url.appending(path: name), encoding: .utf8) }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: url.appending(path: name).path) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(at: url.appending(path: name)) }

  /// Generates the files.
  ///
  /// - Returns: The files that were written and removed, relative to the folder.
  @discardableResult
  func generate(writing: Bool = true) throws -> (written: [String], removed: [String]) {
    let changes = try GenerationRun(request).changes()
    if writing { try changes.apply() }
    return (changes.written.map(relative), changes.removed.map(relative))
  }

  /// The problems of a run, with paths relative to the folder; none if it succeeds.
  func problems() throws -> [String] {
    do {
      try generate()
      return []
    } catch let error as GeneratorError {
      return error.problems.map { relative($0.description) }
    }
  }

  private func relative(_ text: String) -> String { text.replacing(url.path + "/", with: "") }
}
