internal import CarabinerFiles
internal import CarabinerGenerator

/// The configuration and the paths of its files. Paths are relative to the folder of the configuration.
struct InputFiles {
  let settings: GenerationSettings
  /// The schema files.
  private(set) var schema: [String] = []
  /// The documents.
  private(set) var documents: [String] = []
  private let request: GenerationRequest

  /// Reads the configuration and finds the files.
  init(_ request: GenerationRequest) throws(GeneratorError) {
    self.request = request
    let name = Paths.name(of: request.configuration)
    let text = try Self.text(
      of: name, in: request.folder, maximumBytes: GenerationInputs.maximumSettingsBytes,
      remedy: "create it with carabiner generate init or swift package generate-graphql init, or correct the path")
    settings = try GenerationSettings(reading: text, file: name, needsDocuments: request.documents == nil)
    var search = FileSearch(root: request.folder)
    switch settings.schema {
    case .introspection(let file): schema = [file.text]
    case .language(let patterns):
      schema = try files(
        patterns, &search, "schema file", remedy: "fetch it with carabiner schema fetch or swift package generate-graphql fetch",
        maximum: GenerationInputs.maximumSchemaFiles)
    }
    // The documents may be absolute while the schema files are relative.
    let folder = request.folder
    let schemaPaths = Set(schema.map { Paths.normalized(Paths.joined(folder, $0)) })
    var found = request.documents
    if found == nil {
      found = try files(settings.documents, &search, "document", remedy: "remove it", maximum: GenerationInputs.maximumDocuments)
    }
    documents = (found ?? []).filter { !schemaPaths.contains(Paths.normalized(Paths.joined(folder, $0))) }
  }

  /// The paths of all files, for a watch.
  var paths: [String] { [request.configuration] + (schema + documents).map { Paths.joined(request.folder, $0) } }

  /// The text of a file.
  func text(of file: String, maximumBytes: Int) throws(GeneratorError) -> String {
    try Self.text(of: file, in: request.folder, maximumBytes: maximumBytes)
  }

  /// The text of a file in a folder.
  static func text(
    of file: String, in folder: String, maximumBytes: Int, remedy: String = "correct the path, or the permissions of the file"
  ) throws(GeneratorError) -> String {
    do throws(BoundedFile.Fault) {
      return try BoundedFile.text(at: Paths.joined(folder, file), maximumBytes: maximumBytes)
    } catch {
      let reason =
        switch error {
        case .unreadable(let reason): "the file cannot be read: \(reason); \(remedy)"
        case .tooLarge: "the file has more than the \(maximumBytes) bytes that are left; make it smaller, or generate in parts"
        case .notText: "the file is not a text in UTF-8; save it in UTF-8"
        }
      throw GeneratorError(problems: [GeneratorProblem(file: file, message: reason)])
    }
  }

  /// The files that match patterns. Each pattern must match at least one file.
  private func files(
    _ patterns: [PlacedText], _ search: inout FileSearch, _ kind: String, remedy: String, maximum: Int
  ) throws(GeneratorError) -> [String] {
    let name = Paths.name(of: request.configuration)
    var found: Set<String> = []
    var problems: [GeneratorProblem] = []
    for pattern in patterns {
      func report(_ message: String) {
        problems.append(
          GeneratorProblem(file: name, line: pattern.line, column: pattern.column, message: message))
      }
      do throws(FileSearch.Fault) {
        let files = try search.files(matching: PathGlob(pattern.text))
        if files.isEmpty {
          report("no \(kind) matches \(pattern.text); correct it, or \(remedy). It is relative to the folder of this file")
        }
        for file in files { found.insert(Paths.normalized(file)) }
      } catch {
        report("the folder \(error.path.isEmpty ? "." : error.path) cannot be searched: \(error.reason); name a smaller folder")
      }
    }
    if found.count > maximum {
      problems.append(
        GeneratorProblem(
          file: name, message: "there are more than \(maximum) files for a \(kind); generate in parts"))
    }
    guard problems.isEmpty else { throw GeneratorError(problems: problems) }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
