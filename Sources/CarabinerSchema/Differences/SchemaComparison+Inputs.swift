internal import CarabinerWire

extension SchemaComparison {
  /// The owners of arguments and input fields, with the kinds of their differences.
  struct Owners {
    let removed: SchemaDifference.Kind
    let requiredAdded: SchemaDifference.Kind
    let optionalAdded: SchemaDifference.Kind
    let optionalSeverity: SchemaDifference.Severity
    let changed: SchemaDifference.Kind
    let changedSafely: SchemaDifference.Kind

    static let fields = Owners(
      removed: .argumentRemoved, requiredAdded: .requiredArgumentAdded, optionalAdded: .optionalArgumentAdded,
      optionalSeverity: .dangerous, changed: .argumentChangedKind, changedSafely: .argumentChangedKindSafe)
    static let inputFields = Owners(
      removed: .fieldRemoved, requiredAdded: .requiredInputFieldAdded, optionalAdded: .optionalInputFieldAdded,
      optionalSeverity: .dangerous, changed: .fieldChangedKind, changedSafely: .fieldChangedKindSafe)
    static let directives = Owners(
      removed: .directiveArgumentRemoved, requiredAdded: .requiredDirectiveArgumentAdded,
      optionalAdded: .optionalDirectiveArgumentAdded, optionalSeverity: .safe, changed: .argumentChangedKind,
      changedSafely: .argumentChangedKindSafe)
  }

  /// Compares the arguments of a field or a directive, or the fields of an input object.
  mutating func compareArguments(
    _ old: NamedList<Schema.InputValue>, _ new: NamedList<Schema.InputValue>, _ coordinate: (String) -> String, _ owners: Owners
  ) {
    for value in old.elements where new[value.name] == nil {
      add(owners.removed, .breaking, coordinate(value.name), "\(coordinate(value.name)) was removed")
    }
    for value in new.elements {
      guard let previous = old[value.name] else {
        let isRequired = value.isRequired
        add(
          isRequired ? owners.requiredAdded : owners.optionalAdded, isRequired ? .breaking : owners.optionalSeverity,
          coordinate(value.name), "\(coordinate(value.name)) was added and is \(isRequired ? "required" : "optional")")
        continue
      }
      if previous != value { compare(previous, value, coordinate(value.name), owners) }
    }
  }

  private mutating func compare(
    _ old: Schema.InputValue, _ new: Schema.InputValue, _ coordinate: String, _ owners: Owners
  ) {
    compareDescriptions(old.description, new.description, coordinate)
    compareDeprecations(old.deprecationReason, new.deprecationReason, coordinate)
    if old.type != new.type {
      let isSafe = isSafe(input: new.type, after: old.type)
      add(
        isSafe ? owners.changedSafely : owners.changed, isSafe ? .safe : .breaking, coordinate,
        "the type of \(coordinate) was \(old.type) and is \(new.type)")
    }
    guard old.defaultValue != new.defaultValue else { return }
    guard let previous = old.defaultValue else {
      return add(.argumentDefaultValueAdded, .safe, coordinate, "\(coordinate) has the default value \(text(of: new))")
    }
    guard new.defaultValue != nil else {
      // Without its default value, a non-null argument is required.
      return add(
        .argumentDefaultValueChange, new.isRequired ? .breaking : .dangerous, coordinate,
        "the default value of \(coordinate) was removed" + (new.isRequired ? ", and it is required" : ""))
    }
    if Self.areEqual(previous, new.defaultValue) { return }
    add(
      .argumentDefaultValueChange, .dangerous, coordinate,
      "the default value of \(coordinate) was \(text(of: old)) and is \(text(of: new))")
  }

  private func text(of value: Schema.InputValue) -> String { value.defaultValue?.description ?? "null" }

  /// Whether two values differ at most in the order of the fields of objects.
  private static func areEqual(_ left: GraphQLDocument.Value, _ right: GraphQLDocument.Value?) -> Bool {
    switch (left, right) {
    case (.list(let left), .list(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
    case (.object(let left), .object(let right)):
      let members = Dictionary(right.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
      return left.count == right.count && left.allSatisfy { areEqual($0.value, members[$0.name]) }
    default: return left == right
    }
  }

  // MARK: Types

  /// Whether results of the new type are results of the old one.
  func isSafe(output new: Schema.TypeReference, after old: Schema.TypeReference) -> Bool {
    var (new, old) = (new, old)
    while true {
      if old.isNonNull, !new.isNonNull { return false }
      (new, old) = (new.nullable, old.nullable)
      guard let element = new.element, let oldElement = old.element else { break }
      (new, old) = (element, oldElement)
    }
    return !new.isList && !old.isList && new.name == old.name
  }

  /// Whether values of the old type are values of the new one.
  func isSafe(input new: Schema.TypeReference, after old: Schema.TypeReference) -> Bool {
    isSafe(output: old, after: new)
  }
}
