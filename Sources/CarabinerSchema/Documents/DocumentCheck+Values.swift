internal import CarabinerWire

extension DocumentCheck {
  /// Reads a value for a place of a type; nil if the type is not known.
  mutating func read(
    _ value: Document.Value, as reference: Schema.TypeReference?, hasDefault: Bool = false, isOneOf: Bool = false
  ) {
    let offset = takePart()
    switch value {
    case .variable(let name):
      definitions[current].uses.append(
        VariableUse(name: name, offset: offset, type: reference, hasDefault: hasDefault, isOneOf: isOneOf))
    case .null:
      if let reference, reference.isNonNull { reportWrong(value, reference.description, of: reference, at: offset) }
    case .list(let elements):
      // A scalar of the schema may have lists as values.
      if let reference, !reference.isList, let type = type(of: reference), type.kind != .scalar || type.isBuiltIn {
        reportWrong(value, reference.description, of: reference, at: offset)
      }
      for element in elements { read(element, as: reference?.element) }
    case .object(let members): read(members, as: reference, at: offset)
    default:
      // One value is a list of one.
      guard let reference, let type = type(of: reference), type.isInput else { return }
      if !type.accepts(value) { reportWrong(value, type.name, of: reference, type, at: offset) }
    }
  }

  /// Reads the fields of an object.
  private mutating func read(_ members: [Document.Argument], as reference: Schema.TypeReference?, at offset: Int) {
    let named = reference.flatMap { self.type(of: $0) }
    if let reference, let named, named.kind == .enumeration || named.isBuiltIn {
      reportWrong(.object(members), named.name, of: reference, named, at: offset)
    }
    let type = named?.kind == .inputObject ? named : nil
    var given: [String: [Int]] = [:]
    for member in members {
      let nameOffset = takePart()
      given[member.name, default: []].append(nameOffset)
      let field = type?.inputField(named: member.name)
      if let type, field == nil {
        report(
          .valuesOfCorrectType,
          ValueFault.unknownField(member.name, of: type.name).message
            + suggestion(for: member.name, among: type.inputFields.map(\.name)),
          at: nameOffset)
      }
      read(member.value, as: field?.type, hasDefault: field?.defaultValue != nil, isOneOf: type?.isOneOf ?? false)
    }
    for (name, places) in given.filter({ $0.value.count > 1 }).sorted(by: { $0.value[0] < $1.value[0] }) {
      report(.uniqueInputFieldNames, "the field \(name) is given \(places.count) times; give it once", at: places)
    }
    guard let type else { return }
    if !type.acceptsFields(count: given.count, hasNull: members.contains { $0.value == .null }) {
      report(.valuesOfCorrectType, ValueFault.notOneField(type.name).message, at: offset)
    }
    for name in requiredNames.names(of: type.name, type.inputFields) where given[name] == nil {
      report(.valuesOfCorrectType, ValueFault.missingField(name, of: type.name).message, at: offset)
    }
  }

  /// Reads the arguments of a field or a directive.
  ///
  /// - Parameters:
  ///   - known: The arguments that it has; nil if it is not known.
  ///   - owner: Its name in messages, such as `Query.books` or `@include`.
  mutating func read(
    _ arguments: [Document.Argument], of owner: @autoclosure () -> String, _ known: NamedList<Schema.InputValue>?, at offset: Int
  ) {
    var given: [(name: String, offset: Int)] = []
    for argument in arguments {
      let nameOffset = takePart()
      given.append((argument.name, nameOffset))
      let definition = known?[argument.name]
      if let known, definition == nil {
        report(
          .knownArgumentNames,
          "\(owner()) has no argument \(argument.name)\(suggestion(for: argument.name, among: known.elements.map(\.name)))",
          at: nameOffset)
      }
      read(argument.value, as: definition?.type, hasDefault: definition?.defaultValue != nil)
    }
    if given.count > 1 {
      for same in Grouping(given, by: \.name).groups where same.count > 1 {
        report(
          .uniqueArgumentNames, "the argument \(same[0].name) is given \(same.count) times; give it once", at: same.map(\.offset))
      }
    }
    guard let known, !known.elements.isEmpty else { return }
    let required = requiredNames.names(of: owner(), known.elements)
    if required.isEmpty { return }
    let names = Set(given.map(\.name))
    for name in required where !names.contains(name) {
      report(
        .providedRequiredArguments, "\(owner()) needs the argument \(name), of type \(known[name]?.type.description ?? "")",
        at: offset)
    }
  }

  /// Reports a value that is not one of a type.
  private mutating func reportWrong(
    _ value: Document.Value, _ expected: String, of reference: Schema.TypeReference, _ named: Schema.NamedType? = nil,
    at offset: Int
  ) {
    var suggestion = ""
    if case .enumeration(let name) = value, let named, named.kind == .enumeration {
      suggestion = self.suggestion(for: name, among: named.values.map(\.name))
    }
    if suggestion.isEmpty, let form = value == .null && reference.isList ? "a list in brackets" : form(of: type(of: reference)) {
      suggestion = "; write \(form)"
    }
    report(.valuesOfCorrectType, ValueFault.wrong(value.shortText, expected).message + suggestion, at: offset)
  }

  /// The form of the values of a type; nil for custom scalars.
  private func form(of type: Schema.NamedType?) -> String? {
    switch (type?.kind, type?.name) {
    case (.scalar, "Int"): "a whole number of 32 bits"
    case (.scalar, "Float"): "a number"
    case (.scalar, "String"): "a text in quotes"
    case (.scalar, "ID"): "a text in quotes or a whole number"
    case (.scalar, "Boolean"): "true or false"
    case (.inputObject, _): "an object in braces"
    case (.enumeration, _) where !validator.suggestsNames: "an enum value without quotes"
    case (.enumeration, _):
      "one of \(type?.values.prefix(4).map(\.name).joined(separator: ", ") ?? "")\(type?.values.count ?? 0 > 4 ? ", …" : "") without quotes"
    default: nil
    }
  }
}
