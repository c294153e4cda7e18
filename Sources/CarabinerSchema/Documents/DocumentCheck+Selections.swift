internal import CarabinerWire

extension DocumentCheck {
  /// Reads a selection set of a type; nil if the type is not known.
  ///
  /// - Returns: Its number.
  mutating func read(_ selections: [Document.Selection], of type: Schema.NamedType?) -> Int {
    let set = sets.count
    sets.append(SelectionSetPart(type: type, offset: takePart()))
    for selection in selections {
      let offset = takePart()
      let part: SelectionPart? =
        switch selection {
        case .field(let field): read(field, of: type, at: offset)
        case .fragmentSpread(let spread): read(spread, in: type, at: offset)
        case .inlineFragment(let fragment): read(fragment, in: type, at: offset)
        }
      if let part { sets[set].selections.append(part) }
    }
    return set
  }

  // MARK: Fields

  private mutating func read(_ field: Document.Field, of parent: Schema.NamedType?, at offset: Int) -> SelectionPart? {
    let definition = parent.flatMap { schema?.field(field.name, selectedOn: $0) }
    if let parent, definition == nil { reportUnknown(field.name, in: parent, at: offset) }
    read(field.arguments, of: "\(parent?.name ?? "").\(field.name)", definition?.argumentList, at: offset)
    let conditions = read(field.directives, on: .field, in: parent, isList: definition?.type.isList)
    let type = definition.flatMap { self.type(of: $0.type) }
    var set: Int?
    if !field.selectionSet.isEmpty {
      let brace = peekPart()
      if let type, !type.isComposite {
        report(
          .scalarLeafs, "\(field.name) is of type \(type.name), which has no fields; remove the selection of fields", at: brace)
      }
      set = read(field.selectionSet, of: type.flatMap { $0.isComposite ? $0 : nil })
    } else if let type, type.isComposite {
      report(
        .scalarLeafs, "\(field.name) is of type \(type.name); add a selection of its fields, as in \(field.name) { … }",
        at: offset)
    }
    fields.append(
      FieldPart(
        responseKey: field.responseKey, name: field.name, offset: offset, parent: parent, type: definition?.type,
        arguments: Self.text(of: field.arguments),
        stream: field.directives.first { $0.name == "stream" }.map { Self.text(of: $0.arguments) }, set: set))
    return SelectionPart(kind: .field(fields.count - 1), conditions: conditions)
  }

  private mutating func reportUnknown(_ field: String, in type: Schema.NamedType, at offset: Int) {
    var hint = ""
    if validator.suggestsNames, let schema, type.kind != .object {
      let having = schema.possibleTypes(of: type).lazy.filter { $0.field(named: field) != nil }.prefix(3).map(\.name)
      if !having.isEmpty { hint = " (did you mean to use it in a fragment on \(having.joined(separator: " or "))?)" }
    }
    if hint.isEmpty { hint = suggestion(for: field, among: type.fields.map(\.name)) }
    if hint.isEmpty, validator.suggestsNames, let other = schema?.rootOperation(having: field, besides: type) {
      hint = " (did you mean to use it in a \(other.rawValue)?)"
    }
    report(.fieldsOnCorrectType, "\(type.name) has no field \(field)\(hint)", at: offset)
  }

  /// Arguments as a text that does not depend on the order of names.
  private static func text(of arguments: [Document.Argument]) -> String {
    if arguments.isEmpty { return "" }
    return arguments.sorted { $0.name < $1.name }.map { "\($0.name):\(text(of: $0.value))" }.joined(separator: ",")
  }

  private static func text(of value: Document.Value) -> String {
    switch value {
    case .object(let members): "{\(text(of: members))}"
    case .list(let elements): "[\(elements.map { text(of: $0) }.joined(separator: ","))]"
    default: value.description
    }
  }

  // MARK: Fragments

  private mutating func read(_ spread: Document.FragmentSpread, in parent: Schema.NamedType?, at offset: Int) -> SelectionPart? {
    let nameOffset = takePart()
    let conditions = read(spread.directives, on: .fragmentSpread, in: parent)
    guard let fragment = fragments[spread.name] else {
      report(
        .knownFragmentNames,
        "there is no fragment \(spread.name)\(suggestion(for: spread.name, among: fragments.keys.sorted())); define it, or remove the spread",
        at: nameOffset)
      return nil
    }
    checkFit(types[fragment], in: parent, "the fragment \(spread.name)", at: offset)
    definitions[current].spreads.append(SpreadPart(fragment: fragment, offset: offset))
    return SelectionPart(kind: .spread(fragment), conditions: conditions)
  }

  private mutating func read(
    _ fragment: Document.InlineFragment, in parent: Schema.NamedType?, at offset: Int
  ) -> SelectionPart? {
    var type = parent
    if let name = fragment.typeCondition {
      checkCondition(name, of: "the fragment", at: takePart())
      type = schema?.selectedType(named: name).flatMap { $0.isComposite ? $0 : nil }
      checkFit(type, in: parent, "the fragment", at: offset)
    }
    let conditions = read(fragment.directives, on: .inlineFragment, in: parent)
    return SelectionPart(kind: .inline(read(fragment.selectionSet, of: type)), conditions: conditions)
  }

  /// Checks that an object can be of both types.
  private mutating func checkFit(
    _ type: Schema.NamedType?, in parent: Schema.NamedType?, _ owner: @autoclosure () -> String, at offset: Int
  ) {
    guard let schema, let type, let parent, type !== parent else { return }
    let pair = [type.name, parent.name].sorted()
    let fits = overlaps[pair] ?? schema.overlap(type, parent)
    overlaps[pair] = fits
    if !fits {
      report(
        .possibleFragmentSpreads,
        "\(owner()) is on \(type.name), and no object is of both \(type.name) and \(parent.name); remove it",
        at: offset)
    }
  }
}
