internal import CarabinerSchema
internal import CarabinerWire

/// Reads and validates all documents as one: a fragment of one file may be used in the others.
struct DocumentSet {
  /// The directive of an operation or a fragment that changes the store.
  static let localMutation = "apollo_client_ios_localCacheMutation"
  /// The directives that only clients understand.
  static let clientDirectives: Set<String> = [localMutation]
  /// Documents are files of the developer, so the limits are larger than those of a server.
  private static let maximumBytes = 64 << 20

  private let sources: [DocumentSource]
  private(set) var definitions = Definitions()
  private(set) var problems: [GeneratorProblem] = []

  init(_ sources: [DocumentSource], schema: Schema) {
    self.sources = sources
    read()
    if problems.isEmpty, !definitions.operations.isEmpty || !definitions.fragments.isEmpty { validate(schema) }
  }

  private static var limits: GraphQLLimits { GraphQLLimits(maximumTokens: maximumBytes, maximumBytes: maximumBytes) }

  private mutating func read() {
    var nextID = 0
    for source in sources where !Self.isEmpty(source.text) {
      do throws(GraphQLSyntaxError) {
        let (document, places) = try GraphQLDocument.parsingWithPlaces(source.text, limits: Self.limits)
        var reader = DefinitionReader(file: source.file, places: places, firstID: nextID)
        nextID = reader.read(document, into: &definitions)
        problems += reader.problems
      } catch {
        problems.append(SourcePlace(file: source.file, line: error.line, column: error.column).problem(error.message))
      }
    }
  }

  /// Whether a text has comments and white space only.
  private static func isEmpty(_ text: String) -> Bool {
    text.split(whereSeparator: \.isNewline).allSatisfy { line in
      line.first { !$0.isWhitespace && $0 != "," }.map { $0 == "#" } ?? true
    }
  }

  // MARK: Validation

  private mutating func validate(_ schema: Schema) {
    var (text, starts, lines) = ("", [Int](), 0)
    for source in sources {
      starts.append(lines)
      text += source.text + "\n"
      lines += Self.lineBreaks(source.text) + 1
    }
    var validator = DocumentValidator(schema: schema)
    validator.clientDirectives = Self.clientDirectives
    validator.limits = Self.limits
    do throws(GraphQLSyntaxError) {
      // A fragment that no operation uses may serve to read the store.
      let found = try validator.problems(in: text).filter { $0.rule != .noUnusedFragments }
      let unknown = Set(found.lazy.filter { $0.rule == .fieldsOnCorrectType }.flatMap(\.locations))
      for problem in found {
        // A field that does not exist is already reported, so its conflict with another field is not.
        if problem.rule == .overlappingFieldsCanBeMerged, problem.locations.contains(where: unknown.contains) { continue }
        problems.append(self.problem(problem, starts))
      }
    } catch {
      problems.append(SourcePlace(file: "").problem(error.message))
    }
  }

  /// A problem with its place, what to do, and other places.
  private func problem(_ problem: DocumentProblem, _ starts: [Int]) -> GeneratorProblem {
    var places = problem.locations.map { place(of: $0, starts) }
    // The first place is the declaration of the variable.
    if problem.rule == .variablesInAllowedPosition { places.reverse() }
    var message = problem.message
    if !message.contains("; "), !message.contains("(did you mean ") { message += "; \(Self.remedy(for: problem.rule))" }
    let others = places.dropFirst().prefix(3).map { "\($0.file):\($0.line):\($0.column)" }
    let more = others.isEmpty ? "" : ", with \(others.joined(separator: ", "))"
    return (places.first ?? SourcePlace(file: "")).problem("\(message) [\(problem.rule.rawValue)]\(more)")
  }

  /// The remedy, for a message without one.
  private static func remedy(for rule: DocumentProblem.Rule) -> String {
    switch rule {
    case .fieldsOnCorrectType, .knownTypeNames, .knownDirectives, .knownArgumentNames:
      "correct the name, or fetch the schema again if the server has it"
    case .providedRequiredArguments: "add it"
    case .valuesOfCorrectType: "correct the value"
    default: "correct the document"
    }
  }

  /// The number of line breaks as the parser counts them.
  private static func lineBreaks(_ text: String) -> Int {
    var (count, previous) = (0, UInt8(0))
    for byte in text.utf8 {
      if byte == 0x0D || byte == 0x0A && previous != 0x0D { count += 1 }
      previous = byte
    }
    return count
  }

  /// Converts a place in the text of all files to a place in one file.
  private func place(of place: GraphQLPlaces.Place?, _ starts: [Int]) -> SourcePlace {
    guard let place, let index = starts.lastIndex(where: { $0 < place.line }) else { return SourcePlace(file: "") }
    return SourcePlace(file: sources[index].file, line: place.line - starts[index], column: place.column)
  }
}
