package import CarabinerWire

/// Collects the definitions of a schema in any order. Each name is looked up once: types refer to each other by number.
struct SchemaBuilder {
  let limits: SchemaLimits
  var description: String?
  var appliedDirectives: [Schema.AppliedDirective] = []
  private(set) var directives = NamedList<Schema.DirectiveDefinition>()
  private(set) var ids: [String: Int] = [:]
  private(set) var definitionOrder: [Int] = []
  private(set) var problems: [SchemaProblem] = []
  private var drafts: [Draft] = []
  private var rootReferences: [Schema.OperationType: Schema.TypeReference] = [:]
  private var schemaDefinition: Uncompared<Schema.Location?>?
  /// The first extension of each type that was not defined yet, and each extension of another kind than its type.
  private var extensions: [(id: Int, kind: Schema.NamedType.Kind, location: Schema.Location?)] = []

  /// A name that is used or defined.
  private struct Draft {
    let name: String
    /// The kind of its definition; of its first extension if it has none; nil if the name is only used.
    var kind: Schema.NamedType.Kind?
    var isDefined = false
    var contents = TypeContents()
  }

  init(limits: SchemaLimits) {
    self.limits = limits
    for name in Schema.builtInScalars {
      let id = id(of: name)
      drafts[id].kind = .scalar
    }
  }

  // MARK: Names

  /// The number of a type. The name need not be defined yet.
  mutating func id(of name: String) -> Int {
    if let id = ids[name] { return id }
    ids[name] = drafts.count
    drafts.append(Draft(name: name))
    return drafts.count - 1
  }

  /// A reference to a type. All references share the text of the name.
  mutating func reference(
    to name: String, listDepth: Int = 0, marks: UInt64 = 0, at location: Schema.Location?
  ) -> Schema.TypeReference {
    let id = id(of: name)
    return Schema.TypeReference(name: drafts[id].name, id: id, listDepth: listDepth, marks: marks, location: location)
  }

  func name(of id: Int) -> String { drafts[id].name }

  /// The names that are used and not defined, each with its number.
  var undefinedNames: [String] { drafts.filter { $0.kind == nil }.map(\.name) }

  mutating func problem(
    _ rule: SchemaProblem.Rule, _ coordinate: String, _ message: String, at location: Schema.Location?
  ) {
    guard problems.count < limits.maximumProblems else { return }
    problems.append(SchemaProblem(rule, coordinate, message, at: location))
  }

  /// Records that a name is defined again.
  mutating func duplicate(
    _ rule: SchemaProblem.Rule, _ coordinate: String, _ what: String, first: Schema.Location?, second: Schema.Location?
  ) {
    let place = first.map { " at \($0)" } ?? ""
    problem(rule, coordinate, "\(what) already exists\(place); remove or rename one of them", at: second)
  }

  // MARK: Definitions

  /// Begins a definition, and returns the number of its type.
  mutating func define(
    _ name: String, _ kind: Schema.NamedType.Kind, description: String?, at location: Schema.Location?
  ) -> Int {
    let id = id(of: name)
    if Schema.builtInScalars.contains(name) {
      if kind != .scalar {
        problem(.uniqueTypeNames, name, "\(name) is a scalar that each schema has; use another name for this type", at: location)
      }
      return id
    }
    if drafts[id].isDefined {
      duplicate(.uniqueTypeNames, name, "a type \(name)", first: drafts[id].contents.location.value, second: location)
      return id
    }
    if drafts[id].kind == nil { definitionOrder.append(id) }
    drafts[id].isDefined = true
    drafts[id].kind = kind
    drafts[id].contents.description = description
    drafts[id].contents.location = Uncompared(location)
    return id
  }

  /// Begins an extension, and returns the number of its type.
  mutating func extend(_ name: String, _ kind: Schema.NamedType.Kind, at location: Schema.Location?) -> Int {
    let id = id(of: name)
    if drafts[id].kind == nil {
      drafts[id].kind = kind
      drafts[id].contents.location = Uncompared(location)
      definitionOrder.append(id)
      extensions.append((id, kind, location))
    } else if drafts[id].kind != kind, extensions.count < drafts.count + limits.maximumProblems {
      extensions.append((id, kind, location))
    }
    return id
  }

  /// Changes the parts of a type.
  mutating func change(_ id: Int, _ body: (inout TypeContents) -> Void) { body(&drafts[id].contents) }

  mutating func add(_ field: Schema.Field, to id: Int) {
    guard let previous = drafts[id].contents.fields.set(field) else { return }
    let coordinate = "\(drafts[id].name).\(field.name)"
    duplicate(.uniqueFieldDefinitionNames, coordinate, "a field \(coordinate)", first: previous.location, second: field.location)
  }

  mutating func add(inputField field: Schema.InputValue, to id: Int) {
    guard let previous = drafts[id].contents.inputFields.set(field) else { return }
    let coordinate = "\(drafts[id].name).\(field.name)"
    duplicate(.uniqueFieldDefinitionNames, coordinate, "a field \(coordinate)", first: previous.location, second: field.location)
  }

  mutating func add(_ value: Schema.EnumValue, to id: Int) {
    guard let previous = drafts[id].contents.values.set(value) else { return }
    let coordinate = "\(drafts[id].name).\(value.name)"
    duplicate(.uniqueEnumValueNames, coordinate, "a value \(coordinate)", first: previous.location, second: value.location)
  }

  mutating func add(interface: Schema.TypeReference, to id: Int) {
    guard let previous = drafts[id].contents.interfaces.set(interface) else { return }
    duplicate(
      .uniqueInterfaces, drafts[id].name, "the interface \(interface.name) of \(drafts[id].name)", first: previous.location,
      second: interface.location)
  }

  mutating func add(member: Schema.TypeReference, to id: Int) {
    guard let previous = drafts[id].contents.members.set(member) else { return }
    duplicate(
      .uniqueUnionMembers, drafts[id].name, "the member \(member.name) of \(drafts[id].name)", first: previous.location,
      second: member.location)
  }

  mutating func add(_ directive: Schema.DirectiveDefinition) {
    // Servers and printers may repeat the built-in directives, often in the form of an older edition.
    if let builtIn = Schema.DirectiveDefinition.builtIn[directive.name],
      directive.arguments.allSatisfy({ builtIn.argument(named: $0.name) != nil })
    {
      return
    }
    guard let previous = directives.set(directive) else { return }
    duplicate(
      .uniqueDirectiveNames, "@\(directive.name)", "a directive @\(directive.name)", first: previous.location,
      second: directive.location)
  }

  // MARK: Root types

  /// Begins the definition of the schema itself.
  mutating func defineSchema(description: String?, at location: Schema.Location?) {
    if let first = schemaDefinition {
      return duplicate(.loneSchemaDefinition, "", "a definition of the schema", first: first.value, second: location)
    }
    schemaDefinition = Uncompared(location)
    self.description = description
  }

  /// The place of the definition of the schema itself; nil if there is none.
  var schemaLocation: Schema.Location? { schemaDefinition?.value }

  mutating func add(root type: Schema.TypeReference, of operation: Schema.OperationType) {
    guard let previous = rootReferences.updateValue(type, forKey: operation) else { return }
    duplicate(
      .uniqueOperationTypes, "", "a root type of the operation \(operation.rawValue)", first: previous.location,
      second: type.location)
  }

  /// The root types. Without a definition of the schema, types have their usual names.
  func rootTypes() -> [Schema.OperationType: Schema.TypeReference] {
    var types = rootReferences
    guard schemaDefinition == nil else { return types }
    for operation in Schema.OperationType.allCases where types[operation] == nil {
      guard let id = ids[operation.defaultRootTypeName], drafts[id].kind != nil else { continue }
      types[operation] = Schema.TypeReference(name: drafts[id].name, id: id, location: drafts[id].contents.location.value)
    }
    return types
  }

  // MARK: The schema

  func types() -> [Schema.NamedType?] {
    drafts.map { draft in
      draft.kind.map { Schema.NamedType(name: draft.name, kind: $0, contents: draft.contents) }
    }
  }

  /// The schema of all definitions.
  consuming func schema() -> Schema {
    for (id, kind, location) in extensions {
      let draft = drafts[id]
      if !draft.isDefined, !Schema.builtInScalars.contains(draft.name) {
        problem(
          .possibleTypeExtensions, draft.name, "\(draft.name) is extended, but not defined; define it, or correct the name",
          at: location)
      } else if let defined = draft.kind, defined != kind {
        problem(
          .possibleTypeExtensions, draft.name,
          "\(draft.name) is defined as \(defined.word), and extended as \(kind.word); write extend \(defined.word)",
          at: location)
      }
    }
    return Schema(SchemaStorage(self))
  }
}

extension Schema.NamedType.Kind {
  /// The word that begins a definition of the kind.
  var word: String {
    switch self {
    case .scalar: "scalar"
    case .object: "type"
    case .interface: "interface"
    case .union: "union"
    case .enumeration: "enum"
    case .inputObject: "input"
    }
  }
}

extension Schema.OperationType {
  /// The name of the root type in a schema that does not name it.
  package var defaultRootTypeName: String {
    switch self {
    case .query: "Query"
    case .mutation: "Mutation"
    case .subscription: "Subscription"
    }
  }
}
