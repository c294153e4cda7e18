public import CarabinerSchema

/// Generates Swift types from a schema and documents.
///
/// It reads and writes no files. Equal schemas, documents and configurations give equal files, byte for byte.
public struct CodeGenerator: Sendable {
  /// The schema.
  public let schema: Schema
  /// How code is generated.
  public let configuration: GeneratorConfiguration

  /// Creates a generator.
  public init(schema: Schema, configuration: GeneratorConfiguration = GeneratorConfiguration()) {
    self.schema = schema
    self.configuration = configuration
  }

  /// The files for documents: one for each document, one for the types of the schema that they use, and one for the schema itself.
  ///
  /// - Throws: ``GeneratorError`` with all faults of the schema and the documents.
  public func files(for documents: [DocumentSource]) throws(GeneratorError) -> [GeneratedFile] {
    // The schema may lack definitions of its directives, because a server does not define those for store policies.
    let faults = schema.validate().filter { $0.rule != .knownDirectives }
    guard faults.isEmpty else {
      throw GeneratorError(
        problems: faults.map { fault in
          GeneratorProblem(
            file: fault.location?.file ?? "", line: fault.location?.line ?? 1, column: fault.location?.column ?? 1,
            message: "\(fault.message) [\(fault.rule.rawValue)]")
        })
    }
    let sources = documents.sorted { $0.file.utf8.lexicographicallyPrecedes($1.file.utf8) }
    let set = DocumentSet(sources, schema: schema)
    guard set.problems.isEmpty else { throw GeneratorError(problems: set.problems) }
    let unknown = UnknownNames(set.definitions, schema: schema).problems(configuration.checkedKeys)
    guard unknown.isEmpty else { throw GeneratorError(problems: unknown) }
    var policy = StorePolicy(schema)
    guard policy.problems.isEmpty else { throw GeneratorError(problems: policy.problems) }
    var definitions = set.definitions
    policy.select(in: &definitions)
    var generation = Generation(schema: schema, definitions: definitions, policy: policy, configuration: configuration)
    let files = generation.files(of: sources)
    // A faulty selection that several types have is found once for each type.
    var known: Set<GeneratorProblem> = []
    let problems = generation.problems.filter { known.insert($0).inserted }
    guard problems.isEmpty else { throw GeneratorError(problems: problems) }
    return files
  }
}
