package import CarabinerGenerator

/// One run of the generator over the files of a configuration.
package struct GenerationRun: Sendable {
  private let request: GenerationRequest

  package init(_ request: GenerationRequest) { self.request = request }

  /// The changes of the generated files. Nothing is written.
  ///
  /// - Throws: `GeneratorError` with all problems of the configuration, the schema or the documents. Paths in it begin as the path of the
  ///   configuration does.
  package func changes() throws(GeneratorError) -> OutputChanges {
    let inputs = try located { () throws(GeneratorError) in try GenerationInputs(try InputFiles(request)) }
    var configuration = inputs.settings.generator
    if request.documents != nil {
      (configuration.persistedDocuments, configuration.mocks) = (nil, nil)
      // A configuration may be for several targets, each with a part of the documents.
      configuration.checkedKeys = [:]
    }
    let generator = CodeGenerator(schema: inputs.schema, configuration: configuration)
    let plan = try located { () throws(GeneratorError) in
      try OutputPlan(try generator.files(for: inputs.documents), inputs, request)
    }
    return try OutputChanges(plan, root: request.folder, folder: request.output ?? inputs.settings.folder)
  }

  /// The state of the files that the run reads.
  package var state: InputState { InputState(request) }

  /// Adds the folder of the configuration to the files of problems.
  private func located<Result>(_ body: () throws(GeneratorError) -> Result) throws(GeneratorError) -> Result {
    do throws(GeneratorError) {
      return try body()
    } catch {
      throw GeneratorError(
        problems: error.problems.map { problem in
          let file = problem.file.isEmpty ? "" : Paths.joined(request.folder, problem.file)
          return GeneratorProblem(file: file, line: problem.line, column: problem.column, message: problem.message)
        })
    }
  }
}
