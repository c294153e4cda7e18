internal import CarabinerSchema
internal import CarabinerWire

/// The key fields and the field policies of a schema, by `@typePolicy(keyFields: "id")` and `@fieldPolicy(forField: "book", keyArgs: "id")`.
struct StorePolicy {
  /// The key fields by object type or interface.
  private(set) var keyFields: [String: [String]] = [:]
  /// The type and the key arguments by `Type.field`.
  private(set) var fields: [String: (type: String, arguments: [String])] = [:]
  /// The names of key fields that can be selected anywhere without a conflict. In all types, the field has the same type. No
  /// document has an alias with the name, or a field of the name with arguments.
  private var clearNames: Set<String> = []
  private(set) var problems: [GeneratorProblem] = []
  private let schema: Schema

  init(_ schema: Schema) {
    self.schema = schema
    for type in schema.types where type.kind == .object || type.kind == .interface {
      for directive in type.appliedDirectives where directive.name == "fieldPolicy" { readField(directive, of: type) }
      // The order is that of the store, which uses the first interface by name.
      for owner in [type] + type.interfaces.compactMap({ schema.type(of: $0) }).sorted(by: { $0.name < $1.name }) {
        guard let directive = owner.appliedDirectives.first(where: { $0.name == "typePolicy" }) else { continue }
        readKeys(directive, of: type)
        break
      }
    }
  }

  /// Whether there are neither field policies nor key fields of an object type.
  var isEmpty: Bool { fields.isEmpty && keyFields.keys.allSatisfy { schema.type(named: $0)?.kind != .object } }

  private mutating func readKeys(_ directive: Schema.AppliedDirective, of type: Schema.NamedType) {
    let names = Self.words(directive, "keyFields")
    let unknown = names.filter { type.field(named: $0).map { !$0.needsNoArguments } ?? true }
    if names.isEmpty || !unknown.isEmpty {
      let fault = names.isEmpty ? "names no key field" : "names \(unknown.joined(separator: ", ")), which \(type.name) lacks"
      report(directive, "@typePolicy \(fault); write fields without required arguments, as in keyFields: \"id\"")
    }
    keyFields[type.name] = names
  }

  private mutating func readField(_ directive: Schema.AppliedDirective, of type: Schema.NamedType) {
    let (names, arguments) = (Self.words(directive, "forField"), Self.words(directive, "keyArgs"))
    guard let name = names.first, let field = type.field(named: name), !arguments.isEmpty,
      arguments.allSatisfy({ path in field.argument(named: String(path.prefix { $0 != "." })) != nil })
    else {
      return report(
        directive, "@fieldPolicy needs a field of \(type.name) and its arguments, as in forField: \"book\", keyArgs: \"id\"")
    }
    // The store calls root types by their standard names.
    let root = Schema.OperationType.allCases.first { schema.rootTypeName(of: $0) == type.name }
    fields["\(root.map { Words.capitalized($0.rawValue) } ?? type.name).\(name)"] = (field.type.name, arguments)
  }

  private mutating func report(_ directive: Schema.AppliedDirective, _ message: String) {
    problems.append(SourcePlace(directive.location).problem(message))
  }

  /// The words of an argument.
  private static func words(_ directive: Schema.AppliedDirective, _ name: String) -> [String] {
    guard case .string(let text)? = directive.argument(named: name) else { return [] }
    return text.split(separator: " ").map(String.init)
  }
}

// MARK: Documents

extension StorePolicy {
  /// Selects the key fields of each object, so that the store knows it.
  mutating func select(in definitions: inout Definitions) {
    if keyFields.isEmpty { return }
    findClearNames(definitions)
    definitions.operations = definitions.operations.map { operation in
      let type = schema.rootType(of: operation.definition.type)
      var definition = operation.definition
      definition.selectionSet = selections(definition.selectionSet, of: type, isObject: false)
      return OperationNode(
        name: operation.name, definition: definition, selections: list(operation.selections, of: type, isObject: false),
        place: operation.place, variables: operation.variables)
    }
    definitions.fragments = definitions.fragments.map { fragment in
      let type = schema.type(named: fragment.definition.typeCondition)
      var definition = fragment.definition
      definition.selectionSet = selections(definition.selectionSet, of: type, isObject: true)
      return FragmentDefinitionNode(
        name: fragment.name, definition: definition, selections: list(fragment.selections, of: type, isObject: true),
        place: fragment.place)
    }
    definitions.fragmentsByName = Dictionary(
      definitions.fragments.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private func list(_ list: SelectionList, of type: Schema.NamedType?, isObject: Bool) -> SelectionList {
    var keys = isObject ? missingKeys(of: type) : []
    let place: (SelectionNode) -> SourcePlace = { node in
      switch node {
      case .field(let field): field.place
      case .fragment(let fragment): fragment.place
      }
    }
    let nodes = list.selections.map { node -> SelectionNode in
      switch node {
      case .field(let field):
        keys.removeAll { $0 == field.responseKey && field.conditions.isEmpty }
        guard let inner = field.selections else { return node }
        let child = type?.field(named: field.name).flatMap { schema.type(of: $0.type) }
        return .field(
          FieldNode(
            responseKey: field.responseKey, name: field.name, conditions: field.conditions,
            selections: self.list(inner, of: child, isObject: true), place: field.place))
      case .fragment(let fragment):
        guard let inner = fragment.selections else { return node }
        let condition = fragment.typeCondition.flatMap { schema.type(named: $0) } ?? type
        return .fragment(
          FragmentNode(
            name: nil, typeCondition: fragment.typeCondition, conditions: fragment.conditions, deferral: fragment.deferral,
            selections: self.list(inner, of: condition, isObject: needsKeys(condition, in: type)), place: fragment.place))
      }
    }
    guard let first = list.selections.first else { return list }
    let added = keys.map { key in
      SelectionNode.field(FieldNode(responseKey: key, name: key, conditions: [], selections: nil, place: place(first)))
    }
    return SelectionList(id: list.id, added + nodes)
  }

  private func selections(
    _ selections: [GraphQLDocument.Selection], of type: Schema.NamedType?, isObject: Bool
  ) -> [GraphQLDocument.Selection] {
    var keys = isObject ? missingKeys(of: type) : []
    let nodes = selections.map { selection -> GraphQLDocument.Selection in
      switch selection {
      case .field(var field):
        keys.removeAll { $0 == field.responseKey && field.directives.isEmpty }
        let child = type?.field(named: field.name).flatMap { schema.type(of: $0.type) }
        field.selectionSet = self.selections(field.selectionSet, of: child, isObject: true)
        return .field(field)
      case .inlineFragment(var fragment):
        let condition = fragment.typeCondition.flatMap { schema.type(named: $0) } ?? type
        fragment.selectionSet = self.selections(fragment.selectionSet, of: condition, isObject: needsKeys(condition, in: type))
        return .inlineFragment(fragment)
      case .fragmentSpread: return selection
      }
    }
    return selections.isEmpty ? [] : keys.map { .field(GraphQLDocument.Field(name: $0)) } + nodes
  }

  /// Whether key fields are added to an inline fragment, because the selection around it, on a union or an interface, does not have
  /// them.
  ///
  /// A result merges fields with the same name, so only names without conflicts are added.
  private func needsKeys(_ condition: Schema.NamedType?, in type: Schema.NamedType?) -> Bool {
    let keys = missingKeys(of: condition)
    guard condition?.name != type?.name, condition?.kind == .object || type?.kind == .union, keys != missingKeys(of: type) else {
      return false
    }
    return keys.allSatisfy(clearNames.contains)
  }

  private mutating func findClearNames(_ definitions: Definitions) {
    var types: [String: Set<String>] = [:]
    for name in Set(keyFields.values.joined()) { types[name] = [] }
    for type in schema.types {
      for field in type.fields { types[field.name]?.insert(field.type.description) }
    }
    clearNames = Set(types.filter { $0.value.count == 1 }.keys)
    for field in definitions.fields where field.responseKey != field.name || !field.arguments.isEmpty {
      clearNames.remove(field.responseKey)
    }
  }

  private func missingKeys(of type: Schema.NamedType?) -> [String] { type.flatMap { keyFields[$0.name] } ?? [] }
}
