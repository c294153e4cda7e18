internal import CarabinerDigest
internal import CarabinerSchema
internal import CarabinerWire

/// The texts of documents as clients send them: without descriptions and client directives, with `__typename` and all fragments used.
struct SentDocument {
  private typealias Selection = GraphQLDocument.Selection

  private let definitions: Definitions
  private let rootTypes: Set<String>
  /// The printed fragments, and the fragments that each spreads itself.
  private var texts: [String: (text: String, spreads: [String])] = [:]

  init(_ definitions: Definitions, schema: Schema) {
    self.definitions = definitions
    rootTypes = Set(Schema.OperationType.allCases.compactMap { schema.rootTypeName(of: $0) })
  }

  /// The SHA-256 of a text in hexadecimal digits.
  static func hash(_ text: String) -> String {
    Digest.sha256(Array(text.utf8)).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  mutating func text(of operation: OperationNode) -> String {
    var definition = operation.definition
    definition.description = nil
    definition.directives.removeAll { DocumentSet.clientDirectives.contains($0.name) }
    for index in definition.variables.indices { definition.variables[index].description = nil }
    var spreads: [String] = []
    definition.selectionSet = Self.withTypeNames(definition.selectionSet, atTop: false, &spreads)
    return withFragments(Self.compact(.operation(definition)), spreads)
  }

  mutating func text(of fragment: FragmentDefinitionNode) -> String {
    let own = ownText(of: fragment)
    return withFragments(own.text, own.spreads, without: fragment.name)
  }

  private mutating func ownText(of fragment: FragmentDefinitionNode) -> (text: String, spreads: [String]) {
    if let known = texts[fragment.name] { return known }
    var definition = fragment.definition
    definition.description = nil
    definition.directives.removeAll { DocumentSet.clientDirectives.contains($0.name) }
    var spreads: [String] = []
    definition.selectionSet = Self.withTypeNames(
      definition.selectionSet, atTop: !rootTypes.contains(definition.typeCondition), &spreads)
    let own = (Self.compact(.fragment(definition)), spreads)
    texts[fragment.name] = own
    return own
  }

  /// A text with the fragments that it uses, in the order in which they are first used.
  private mutating func withFragments(_ text: String, _ spreads: [String], without name: String? = nil) -> String {
    var parts = [text]
    var known = Set(spreads).union(name.map { [$0] } ?? [])
    var waiting = Self.unique(spreads)
    var next = 0
    while next < waiting.count {
      defer { next += 1 }
      guard let fragment = definitions.fragmentsByName[waiting[next]] else { continue }
      let own = ownText(of: fragment)
      parts.append(own.text)
      for spread in own.spreads where known.insert(spread).inserted { waiting.append(spread) }
    }
    return parts.joined(separator: " ")
  }

  private static func unique(_ names: [String]) -> [String] {
    var known: Set<String> = []
    return names.filter { known.insert($0).inserted }
  }

  // MARK: Selections

  private static func withTypeNames(_ selections: [Selection], atTop: Bool, _ spreads: inout [String]) -> [Selection] {
    var result: [Selection] = []
    let hasTypeName = selections.contains { selection in
      if case .field(let field) = selection { field.responseKey == "__typename" && field.directives.isEmpty } else { false }
    }
    if atTop, !hasTypeName { result.append(.field(GraphQLDocument.Field(name: "__typename"))) }
    for selection in selections {
      switch selection {
      case .field(var field):
        if !field.selectionSet.isEmpty { field.selectionSet = withTypeNames(field.selectionSet, atTop: true, &spreads) }
        result.append(.field(field))
      case .fragmentSpread(let spread):
        spreads.append(spread.name)
        result.append(selection)
      case .inlineFragment(var fragment):
        fragment.selectionSet = withTypeNames(fragment.selectionSet, atTop: false, &spreads)
        result.append(.inlineFragment(fragment))
      }
    }
    return result
  }

  /// The text of a definition in one line. The printer breaks lines between selections only, and strings have no line breaks.
  private static func compact(_ definition: GraphQLDocument.Definition) -> String {
    GraphQLDocument(definitions: [definition]).description.split(separator: "\n").map { line in
      line.drop { $0 == " " }
    }.joined(separator: " ")
  }
}
