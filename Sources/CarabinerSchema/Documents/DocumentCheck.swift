internal import CarabinerWire

/// Checks one document. The first pass goes through the text, and finds what can be judged at its place. Rules about fragments, variables
/// and overlapping fields follow, by the parts that the first pass has collected.
struct DocumentCheck {
  typealias Document = GraphQLDocument
  typealias Rule = DocumentProblem.Rule

  /// A problem whose places are still offsets.
  struct Finding {
    let rule: Rule
    let message: String
    let offsets: [Int]
  }

  let validator: DocumentValidator
  let schema: Schema?
  private let offsets: [Int]
  private var nextPart = 0
  private(set) var findings: [Finding] = []
  /// The steps that comparing may still take.
  private(set) var steps: Int

  /// The number of the first definition of each fragment, by its name.
  private(set) var fragments: [String: Int] = [:]
  /// The type of each definition; nil if it is not known.
  private(set) var types: [Schema.NamedType?] = []

  var definitions: [DefinitionPart] = []
  var sets: [SelectionSetPart] = []
  var fields: [FieldPart] = []
  /// The definition whose parts are read.
  var current = 0
  /// The labels of `@defer` and `@stream`, with the place of the directive.
  var labels: [String: Int] = [:]
  /// Whether an object can be of both of two types, by their names.
  var overlaps: [[String]: Bool] = [:]
  /// The required names of arguments and fields.
  var requiredNames = RequiredNames()

  init(_ validator: DocumentValidator, _ document: Document, offsets: [Int]) {
    self.validator = validator
    schema = validator.schema
    self.offsets = offsets
    steps = DocumentValidator.stepsPerPart * (offsets.count + 100)
    for (number, definition) in document.definitions.enumerated() {
      switch definition {
      case .operation(let operation): types.append(schema?.rootType(of: operation.type))
      case .fragment(let fragment):
        types.append(schema?.selectedType(named: fragment.typeCondition).flatMap { $0.isComposite ? $0 : nil })
        if fragments[fragment.name] == nil { fragments[fragment.name] = number }
      }
    }
  }

  mutating func run(_ document: Document) {
    for definition in document.definitions {
      current = definitions.count
      switch definition {
      case .operation(let operation): read(operation)
      case .fragment(let fragment): read(fragment)
      }
    }
    checkNames()
    checkFragments()
    checkOperations()
    checkOverlappingFields()
  }

  // MARK: Parts

  /// The offset of the next part of the text.
  mutating func takePart() -> Int {
    defer { nextPart += 1 }
    return peekPart()
  }

  /// The offset of the part that ``takePart()`` takes next.
  func peekPart() -> Int { nextPart < offsets.count ? offsets[nextPart] : 0 }

  mutating func report(_ rule: Rule, _ message: String, at offsets: Int...) { report(rule, message, at: offsets) }

  mutating func report(_ rule: Rule, _ message: String, at offsets: [Int]) {
    if !isFull { findings.append(Finding(rule: rule, message: message, offsets: offsets)) }
  }

  /// Whether no more problems are reported.
  private var isFull: Bool { findings.count >= validator.maximumProblems }

  /// Counts a step of a comparison.
  ///
  /// - Returns: False if there were too many, which is reported once.
  mutating func step(_ count: Int = 1) -> Bool {
    guard steps > 0 else { return false }
    steps -= count
    if steps <= 0 {
      report(
        .documentComplexity,
        "comparing the fields and variables of this document takes too long; use fewer fragments, or split it", at: [])
    }
    return steps > 0
  }

  /// The type of a reference, also one of introspection.
  func type(of reference: Schema.TypeReference) -> Schema.NamedType? { (schema ?? .empty).selectedType(of: reference) }

  /// " (did you mean …?)", if suggestions are on and a name is similar.
  func suggestion(for name: String, among names: @autoclosure () -> [String]) -> String {
    validator.suggestsNames && !isFull ? Suggestion.text(for: name, among: names()) : ""
  }

  // MARK: Definitions

  private mutating func read(_ operation: Document.OperationDefinition) {
    let offset = takePart()
    definitions.append(
      DefinitionPart(
        operation: operation.type, name: operation.name, offset: offset,
        nameOffset: operation.name == nil ? offset : takePart()))
    if schema != nil, types[current] == nil {
      report(.knownOperationTypes, "the schema has no \(operation.type.rawValue) operations; remove this one", at: offset)
    }
    for variable in operation.variables { read(variable) }
    read(operation.directives, on: Schema.DirectiveLocation(operation.type))
    definitions[current].set = read(operation.selectionSet, of: types[current])
  }

  private mutating func read(_ fragment: Document.FragmentDefinition) {
    definitions.append(DefinitionPart(operation: nil, name: fragment.name, offset: takePart(), nameOffset: takePart()))
    checkCondition(fragment.typeCondition, of: "the fragment \(fragment.name)", at: takePart())
    read(fragment.directives, on: .fragmentDefinition)
    definitions[current].set = read(fragment.selectionSet, of: types[current])
  }

  /// Checks the type of a fragment.
  mutating func checkCondition(_ name: String, of owner: @autoclosure () -> String, at offset: Int) {
    guard let schema else { return }
    guard let type = schema.selectedType(named: name) else { return reportUnknown(type: name, at: offset) }
    if !type.isComposite {
      report(
        .fragmentsOnCompositeTypes,
        "\(owner()) is on \(name), which is \(type.kind.word); a fragment is on an object type, an interface or a union",
        at: offset)
    }
  }

  private mutating func reportUnknown(type name: String, at offset: Int) {
    let known = (schema?.types.map(\.name) ?? []) + ["Boolean", "Float", "ID", "Int", "String"]
    report(.knownTypeNames, "the schema has no type \(name)\(suggestion(for: name, among: known))", at: offset)
  }

  private mutating func read(_ variable: Document.VariableDefinition) {
    let (offset, nameOffset, typeOffset) = (takePart(), takePart(), takePart())
    let typeName = variable.type.innermostName
    let typeNameOffset = takePart()
    var type: Schema.TypeReference?
    if let schema {
      switch schema.type(named: typeName) {
      case nil: reportUnknown(type: typeName, at: typeNameOffset)
      case let found? where !found.isInput:
        report(
          .variablesAreInputTypes,
          "the variable $\(variable.name) is of type \(variable.type), which is \(found.kind.word); use a scalar, an enum or an input",
          at: typeOffset)
      default: type = schema.reference(variable.type)
      }
    }
    if let value = variable.defaultValue { read(value, as: type) }
    read(variable.directives, on: .variableDefinition)
    definitions[current].variables.append(
      VariablePart(
        name: variable.name, offset: offset, nameOffset: nameOffset, type: type,
        hasDefault: variable.defaultValue.map { $0 != .null } ?? false))
  }

  // MARK: Names of definitions

  private mutating func checkNames() {
    var operations: [String: Int] = [:]
    var named: [String: Int] = [:]
    let count = definitions.count { $0.operation != nil }
    for definition in definitions {
      if definition.operation != nil {
        if let name = definition.name, let first = operations[name] {
          report(
            .uniqueOperationNames, "two operations have the name \(name); rename one", at: first, definition.nameOffset)
        } else if let name = definition.name {
          operations[name] = definition.nameOffset
        } else if count > 1 {
          report(
            .loneAnonymousOperation, "an operation without a name must be the only one; name it", at: definition.offset)
        }
        checkVariableNames(definition)
      } else if let name = definition.name {
        if let first = named[name] {
          report(.uniqueFragmentNames, "two fragments have the name \(name); rename one", at: first, definition.nameOffset)
        } else {
          named[name] = definition.nameOffset
        }
      }
    }
  }

  private mutating func checkVariableNames(_ definition: DefinitionPart) {
    for same in Grouping(definition.variables, by: \.name).groups where same.count > 1 {
      report(
        .uniqueVariableNames, "the variable $\(same[0].name) is declared \(same.count) times; declare it once",
        at: same.map(\.nameOffset))
    }
  }
}

/// Elements by a key, in the order in which the keys came first.
struct Grouping<Element> {
  private(set) var groups: [[Element]] = []

  init<Key: Hashable>(_ elements: some Sequence<Element>, by key: (Element) -> Key) {
    var positions: [Key: Int] = [:]
    for element in elements {
      if let position = positions[key(element)] {
        groups[position].append(element)
      } else {
        positions[key(element)] = groups.count
        groups.append([element])
      }
    }
  }
}
