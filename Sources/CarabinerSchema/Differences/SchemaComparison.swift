internal import CarabinerWire

/// Compares two versions of a schema, as graphql-js does. Each part is looked up once, so the time is linear.
struct SchemaComparison {
  let old: Schema
  let new: Schema
  private(set) var differences: [SchemaDifference] = []

  init(old: Schema, new: Schema) {
    self.old = old
    self.new = new
  }

  mutating func add(
    _ kind: SchemaDifference.Kind, _ severity: SchemaDifference.Severity, _ coordinate: String, _ message: String
  ) {
    differences.append(SchemaDifference(kind: kind, severity: severity, coordinate: coordinate, message: message))
  }

  mutating func run() {
    if old == new { return }
    compareRootTypes()
    compareDescriptions(old.description, new.description, "", "the schema")
    for type in old.types where new.type(named: type.name) == nil {
      add(.typeRemoved, .breaking, type.name, "\(type.name) was removed")
    }
    for type in new.types {
      guard let previous = old.type(named: type.name) else {
        add(.typeAdded, .safe, type.name, "\(type.name) was added")
        continue
      }
      compare(previous, type)
    }
    for directive in old.directives where new.directive(named: directive.name) == nil {
      add(.directiveRemoved, .breaking, "@\(directive.name)", "@\(directive.name) was removed")
    }
    for directive in new.directives {
      guard let previous = old.directive(named: directive.name) else {
        add(.directiveAdded, .safe, "@\(directive.name)", "@\(directive.name) was added")
        continue
      }
      compare(previous, directive)
    }
  }

  private mutating func compareRootTypes() {
    for operation in Schema.OperationType.allCases {
      let (previous, type) = (old.rootTypeName(of: operation), new.rootTypeName(of: operation))
      guard previous != type else { continue }
      let message =
        "the root type of the operation \(operation.rawValue) was \(previous ?? "not defined") and is \(type ?? "not defined")"
      add(.rootTypeChanged, previous == nil ? .safe : .breaking, type ?? previous ?? "", message)
    }
  }

  // MARK: Types

  private mutating func compare(_ old: Schema.NamedType, _ new: Schema.NamedType) {
    if old === new || old == new { return }
    compareDescriptions(old.description, new.description, new.name)
    guard old.kind == new.kind else {
      return add(.typeChangedKind, .breaking, new.name, "\(new.name) was defined as \(old.kind.word) and is \(new.kind.word)")
    }
    compareNames(
      old.contents.interfaces, new.contents.interfaces,
      removed: { $0.add(.implementedInterfaceRemoved, .breaking, new.name, "\(new.name) no longer implements \($1)") },
      added: { $0.add(.implementedInterfaceAdded, .dangerous, new.name, "\(new.name) implements \($1)") })
    compareNames(
      old.contents.members, new.contents.members,
      removed: { $0.add(.typeRemovedFromUnion, .breaking, new.name, "\($1) was removed from the union \(new.name)") },
      added: { $0.add(.typeAddedToUnion, .dangerous, new.name, "\($1) was added to the union \(new.name)") })
    compareNames(
      old.contents.values, new.contents.values,
      removed: { $0.add(.valueRemovedFromEnum, .breaking, "\(new.name).\($1)", "the value \(new.name).\($1) was removed") },
      added: { $0.add(.valueAddedToEnum, .dangerous, "\(new.name).\($1)", "the value \(new.name).\($1) was added") })
    for value in new.values {
      guard let previous = old.value(named: value.name) else { continue }
      compareDescriptions(previous.description, value.description, "\(new.name).\(value.name)")
      compareDeprecations(previous.deprecationReason, value.deprecationReason, "\(new.name).\(value.name)")
    }
    compareFields(old, new)
    compareInputFields(old, new)
  }

  private mutating func compareFields(_ old: Schema.NamedType, _ new: Schema.NamedType) {
    compareNames(
      old.contents.fields, new.contents.fields,
      removed: { $0.add(.fieldRemoved, .breaking, "\(new.name).\($1)", "the field \(new.name).\($1) was removed") },
      added: { $0.add(.fieldAdded, .safe, "\(new.name).\($1)", "the field \(new.name).\($1) was added") })
    for field in new.fields {
      guard let previous = old.field(named: field.name), previous != field else { continue }
      let coordinate = "\(new.name).\(field.name)"
      compareDescriptions(previous.description, field.description, coordinate)
      compareDeprecations(previous.deprecationReason, field.deprecationReason, coordinate)
      if previous.type != field.type {
        let isSafe = isSafe(output: field.type, after: previous.type)
        add(
          isSafe ? .fieldChangedKindSafe : .fieldChangedKind, isSafe ? .safe : .breaking, coordinate,
          "the type of \(coordinate) was \(previous.type) and is \(field.type)")
      }
      compareArguments(previous.argumentList, field.argumentList, { "\(coordinate)(\($0):)" }, .fields)
    }
  }

  private mutating func compareInputFields(_ old: Schema.NamedType, _ new: Schema.NamedType) {
    if old.isOneOf != new.isOneOf {
      add(
        new.isOneOf ? .oneOfAdded : .oneOfRemoved, new.isOneOf ? .breaking : .safe, new.name,
        new.isOneOf ? "\(new.name) has @oneOf now" : "\(new.name) no longer has @oneOf")
    }
    compareArguments(old.contents.inputFields, new.contents.inputFields, { "\(new.name).\($0)" }, .inputFields)
  }

  // MARK: Directives

  private mutating func compare(_ old: Schema.DirectiveDefinition, _ new: Schema.DirectiveDefinition) {
    if old == new { return }
    let coordinate = "@\(new.name)"
    compareDescriptions(old.description, new.description, coordinate)
    compareArguments(old.argumentList, new.argumentList, { "\(coordinate)(\($0):)" }, .directives)
    if old.isRepeatable, !new.isRepeatable {
      add(.directiveRepeatableRemoved, .breaking, coordinate, "\(coordinate) is not repeatable now")
    } else if !old.isRepeatable, new.isRepeatable {
      add(.directiveRepeatableAdded, .safe, coordinate, "\(coordinate) is repeatable")
    }
    for location in old.locations where !new.locations.contains(location) {
      add(.directiveLocationRemoved, .breaking, coordinate, "\(coordinate) is not allowed on \(location.rawValue) now")
    }
    for location in new.locations where !old.locations.contains(location) {
      add(.directiveLocationAdded, .safe, coordinate, "\(coordinate) is allowed on \(location.rawValue)")
    }
  }

  // MARK: Parts

  mutating func compareDescriptions(_ old: String?, _ new: String?, _ coordinate: String, _ name: String? = nil) {
    if old != new { add(.descriptionChanged, .safe, coordinate, "the description of \(name ?? coordinate) was changed") }
  }

  mutating func compareDeprecations(_ old: String?, _ new: String?, _ coordinate: String) {
    guard old != new else { return }
    let message = new.map { "is deprecated: \($0)" } ?? "is not deprecated now"
    add(.deprecationChanged, .safe, coordinate, "\(coordinate) \(message)")
  }

  private mutating func compareNames<Element: Named>(
    _ old: NamedList<Element>, _ new: NamedList<Element>, removed: (inout Self, String) -> Void,
    added: (inout Self, String) -> Void
  ) {
    for element in old.elements where new[element.name] == nil { removed(&self, element.name) }
    for element in new.elements where old[element.name] == nil { added(&self, element.name) }
  }
}

extension Schema {
  /// The differences between an earlier version of the schema and this one, in the terms of graphql-js.
  ///
  /// - Returns: The differences in the order of the schema; empty if both are equal for clients.
  public func differences(since old: Schema) -> [SchemaDifference] {
    var comparison = SchemaComparison(old: old, new: self)
    comparison.run()
    return comparison.differences
  }
}
