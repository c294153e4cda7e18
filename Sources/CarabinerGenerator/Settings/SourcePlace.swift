internal import CarabinerSchema
internal import CarabinerWire

/// A place in a document or a schema.
struct SourcePlace: Sendable, Hashable {
  let file: String
  let line: Int
  let column: Int

  init(file: String, line: Int = 1, column: Int = 1) {
    self.file = file
    self.line = line
    self.column = column
  }

  init(file: String, _ place: GraphQLPlaces.Place?) { self.init(file: file, line: place?.line ?? 1, column: place?.column ?? 1) }

  init(_ location: Schema.Location?) {
    self.init(file: location?.file ?? "", line: location?.line ?? 1, column: location?.column ?? 1)
  }

  func problem(_ message: String) -> GeneratorProblem {
    GeneratorProblem(file: file, line: line, column: column, message: message)
  }
}
