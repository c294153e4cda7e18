internal import CarabinerWire

/// Converts the selection sets of one document. The recursion is as deep as the document, whose depth the parser limits.
struct DefinitionReader {
  private let file: String
  private let places: GraphQLPlaces
  private var nextSelection = 0
  private var nextVariable = 0
  private var nextID: Int
  private(set) var problems: [GeneratorProblem] = []

  /// Creates a reader that numbers selection sets from `firstID` on.
  init(file: String, places: GraphQLPlaces, firstID: Int) {
    self.file = file
    self.places = places
    nextID = firstID
  }

  /// Appends the definitions of the document, and returns the next free number of a selection set.
  mutating func read(_ document: GraphQLDocument, into definitions: inout Definitions) -> Int {
    for (position, definition) in document.definitions.enumerated() {
      let place = SourcePlace(file: file, places.definitions.indices.contains(position) ? places.definitions[position] : nil)
      switch definition {
      case .operation(let operation):
        let variables = places.variables.dropFirst(nextVariable).prefix(operation.variables.count)
        nextVariable += variables.count
        let selections = list(operation.selectionSet)
        guard let name = operation.name else {
          problems.append(place.problem("the operation has no name, and the generated type needs one; name it"))
          continue
        }
        definitions.operations.append(
          OperationNode(
            name: name, definition: operation, selections: selections, place: place,
            variables: variables.map { SourcePlace(file: file, $0) }))
      case .fragment(let fragment):
        let node = FragmentDefinitionNode(
          name: fragment.name, definition: fragment, selections: list(fragment.selectionSet), place: place)
        definitions.fragments.append(node)
        definitions.fragmentsByName[fragment.name] = node
      }
    }
    return nextID
  }

  private mutating func list(_ selections: [GraphQLDocument.Selection]) -> SelectionList {
    let id = nextID
    nextID += 1
    return SelectionList(id: id, selections.compactMap { node($0) })
  }

  /// Converts a selection; nil if it is never included. The places of its parts are skipped then.
  private mutating func node(_ selection: GraphQLDocument.Selection) -> SelectionNode? {
    let place = SourcePlace(
      file: file, places.selections.indices.contains(nextSelection) ? places.selections[nextSelection] : nil)
    nextSelection += 1
    switch selection {
    case .field(let field):
      let selections = field.selectionSet.isEmpty ? nil : list(field.selectionSet)
      guard let conditions = Self.conditions(field.directives) else { return nil }
      return .field(
        FieldNode(
          responseKey: field.responseKey, name: field.name, conditions: conditions, selections: selections, place: place))
    case .fragmentSpread(let spread):
      guard let conditions = Self.conditions(spread.directives) else { return nil }
      return .fragment(
        FragmentNode(
          name: spread.name, typeCondition: nil, conditions: conditions,
          deferral: Self.deferral(spread.directives).map { $0.label ?? spread.name }, selections: nil, place: place))
    case .inlineFragment(let fragment):
      let selections = list(fragment.selectionSet)
      guard let conditions = Self.conditions(fragment.directives) else { return nil }
      let deferral = Self.deferral(fragment.directives)
      if let deferral, deferral.label.map(SwiftNames.isIdentifier) != true {
        problems.append(
          place.problem(
            "@defer on an inline fragment needs a label that can be the name of its type; add a label such as \"details\""))
      }
      return .fragment(
        FragmentNode(
          name: nil, typeCondition: fragment.typeCondition, conditions: conditions, deferral: deferral?.label,
          selections: selections, place: place))
    }
  }

  // MARK: Directives

  /// The conditions of `@include` and `@skip`, without constant ones; nil if the selection is never included.
  private static func conditions(_ directives: [GraphQLDocument.Directive]) -> [Condition]? {
    var conditions: [Condition] = []
    for directive in directives where directive.name == "include" || directive.name == "skip" {
      let isSkip = directive.name == "skip"
      switch directive.arguments.first(where: { $0.name == "if" })?.value {
      case .boolean(let value)?: if value == isSkip { return nil }
      case .variable(let name)?:
        let condition = Condition(variable: name, isSkip: isSkip)
        if conditions.contains(condition.opposite) { return nil }
        if !conditions.contains(condition) { conditions.append(condition) }
      default: break
      }
    }
    return conditions
  }

  /// The use of `@defer`; nil without it.
  private static func deferral(_ directives: [GraphQLDocument.Directive]) -> Deferral? {
    guard let directive = directives.first(where: { $0.name == "defer" }) else { return nil }
    if case .boolean(false)? = directive.arguments.first(where: { $0.name == "if" })?.value { return nil }
    guard case .string(let label)? = directive.arguments.first(where: { $0.name == "label" })?.value else {
      return Deferral(label: nil)
    }
    return Deferral(label: label)
  }
}

/// A use of `@defer`.
private struct Deferral {
  let label: String?
}
