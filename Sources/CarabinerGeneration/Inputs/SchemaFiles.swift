internal import CarabinerFiles
package import CarabinerGenerator
package import CarabinerSchema

/// Reads schemas from files.
package enum SchemaFiles {
  /// The schema of several files in the schema definition language, or of one introspection result whose name ends with `.json`.
  ///
  /// - Throws: `GeneratorError` with the place of the first fault.
  package static func schema(at paths: [String]) throws(GeneratorError) -> Schema {
    try schema(paths, isIntrospection: paths.count == 1 && paths.allSatisfy { $0.hasSuffix(".json") }) {
      path, maximum throws(GeneratorError) in
      try InputFiles.text(of: path, in: "", maximumBytes: maximum)
    }
  }

  /// - Parameter read: Reads the text of a file, up to a number of bytes.
  static func schema(
    _ files: [String], isIntrospection: Bool, _ read: (String, Int) throws(GeneratorError) -> String
  ) throws(GeneratorError) -> Schema {
    let limits = SchemaLimits()
    var texts: [SchemaSource] = []
    for file in files {
      let maximum = isIntrospection ? limits.maximumIntrospectionBytes : limits.maximumBytes
      texts.append(SchemaSource(file: file, text: try read(file, maximum)))
    }
    do throws(SchemaError) {
      if isIntrospection, let text = texts.first?.text { return try Schema(introspection: text, limits: limits) }
      return try Schema(parsing: texts, limits: limits)
    } catch {
      // An introspection result has no places.
      throw GeneratorError(problems: [
        GeneratorProblem(
          file: error.location?.file ?? files.first ?? "", line: error.location?.line ?? 1, column: error.location?.column ?? 1,
          message: error.message)
      ])
    }
  }
}
