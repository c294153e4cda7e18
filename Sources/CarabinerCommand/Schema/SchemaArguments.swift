internal import CarabinerGeneration
internal import CarabinerGenerator
internal import CarabinerSchema

/// The schemas that arguments name.
enum SchemaArguments {
  /// - Throws: ``ExitStatus`` after the fault was printed.
  static func schema(of files: [String]) throws -> Schema {
    do throws(GeneratorError) {
      return try SchemaFiles.schema(at: files)
    } catch {
      Terminal.complain(error.description)
      throw ExitStatus.refused
    }
  }
}
