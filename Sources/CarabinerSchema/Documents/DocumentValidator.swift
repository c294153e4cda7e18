public import CarabinerWire

/// Checks documents by the rules of section 5 of the specification, and those for `@defer` and `@stream`.
///
/// With a schema all rules apply; without one, those that need none. The time is linear in the size of a document: comparing fields and
/// variables ends with a problem of its own if it takes more than ``stepsPerPart`` steps for each part of the document.
public struct DocumentValidator: Sendable {
  /// The default maximal number of problems of a document.
  public static let defaultMaximumProblems = 100
  /// The most steps for each part of a document that comparing fields and variables may take.
  public static let stepsPerPart = 200

  /// The schema; nil if it is not known.
  public let schema: Schema?
  /// Whether messages suggest names. Suggestions show a client parts of the schema.
  public var suggestsNames = true
  /// The maximum number of problems. Validation ends when it is reached.
  public var maximumProblems = Self.defaultMaximumProblems
  /// The names of directives that a client removes before it sends the document. They need no definition.
  package var clientDirectives: Set<String> = []
  /// The limits for parsing.
  public var limits = GraphQLLimits()

  /// Creates a validator for a schema; nil for the rules that need none.
  public init(schema: Schema?) { self.schema = schema }

  /// The problems of a document; empty if it is valid.
  ///
  /// - Throws: ``GraphQLSyntaxError`` if the text is not a document.
  public func problems(in text: String) throws(GraphQLSyntaxError) -> [DocumentProblem] {
    let (document, parts) = try GraphQLDocument.parsingWithParts(Array(text.utf8), limits: limits)
    return problems(in: document, at: parts)
  }

  /// The problems of a document that was parsed with the places of its parts.
  package func problems(in document: GraphQLDocument, at parts: GraphQLPartPlaces) -> [DocumentProblem] {
    var check = DocumentCheck(self, document, offsets: parts.offsets)
    check.run(document)
    let found = check.findings.prefix(maximumProblems)
    let places = parts.places(of: Set(found.flatMap(\.offsets)))
    return found.map { finding in
      DocumentProblem(rule: finding.rule, message: finding.message, locations: finding.offsets.compactMap { places[$0] })
    }
  }
}
