internal import CarabinerGenerator

/// The texts of all files that a run generates, by their paths relative to the folder of the configuration.
struct OutputPlan {
  /// The maximum size of all generated files in bytes.
  static let maximumBytes = 512 << 20
  /// The files that are generated for the schema.
  private static let schemaFiles = ["SchemaTypes.graphql.swift", "SchemaConfiguration.graphql.swift"]

  /// The files with their texts, sorted by path.
  private(set) var files: [(path: String, text: String)] = []

  /// - Throws: `GeneratorError` if two files would have one path.
  init(_ generated: [GeneratedFile], _ inputs: GenerationInputs, _ request: GenerationRequest) throws(GeneratorError) {
    let folder = request.output ?? inputs.settings.folder
    let isBeside = request.output == nil && inputs.settings.isBesideDocuments
    let settings = inputs.settings.generator
    let placed = [settings.persistedDocuments?.file, settings.mocks?.file]
    let reserved = Self.schemaFiles + (settings.mocks == nil ? [] : [GenerationSettings.mocksFile])
    let paths = try Self.paths(inputs.documents.map(\.file), folder: isBeside ? nil : folder, reserved)
    var texts: [String: String] = [:]
    if let documents = request.documents {
      for name in documents.map({ Paths.name(of: $0) + ".swift" }) + Self.schemaFiles {
        texts[Paths.normalized(Paths.joined(folder, name))] = GeneratedFile.firstLine + "\n"
      }
    }
    var bytes = 0
    var known: Set<String> = []
    for file in generated {
      let path = Paths.normalized(
        paths[file.name] ?? (placed.contains(file.name) ? file.name : Paths.joined(folder, file.name)))
      bytes += file.text.utf8.count
      guard known.insert(path).inserted else {
        throw GeneratorError(problems: [
          GeneratorProblem(
            file: Paths.name(of: request.configuration),
            message: "two generated files would have the path \(path); choose another name for output.manifest or output.mocks")
        ])
      }
      texts[path] = file.text
    }
    guard bytes <= Self.maximumBytes else {
      throw GeneratorError(problems: [
        GeneratorProblem(file: "", message: "the generated files have more than \(Self.maximumBytes) bytes; generate in parts")
      ])
    }
    files = texts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
  }

  /// The paths of the generated files of documents, by their names from the generator.
  ///
  /// - Parameters:
  ///   - folder: The folder of all files; nil if each is beside its document.
  ///   - reserved: The names of other generated files.
  private static func paths(
    _ documents: [String], folder: String?, _ reserved: [String]
  ) throws(GeneratorError) -> [String: String] {
    var paths: [String: String] = [:]
    var sources: [String: String] = [:]
    var problems: [GeneratorProblem] = []
    for document in documents {
      let name = Paths.name(of: document) + ".swift"
      if reserved.contains(name) {
        problems.append(
          GeneratorProblem(
            file: document, message: "\(name) is the name of another generated file; rename this document"))
      } else if let other = sources.updateValue(document, forKey: name) {
        // A Swift module cannot have two files of one name, so this is a fault for files beside the documents too.
        problems.append(
          GeneratorProblem(
            file: document, message: "the file \(name) would be generated for this document and for \(other); rename one of them")
        )
      }
      paths[document + ".swift"] = Paths.joined(folder ?? Paths.folder(of: document), name)
    }
    guard problems.isEmpty else { throw GeneratorError(problems: problems) }
    return paths
  }
}
