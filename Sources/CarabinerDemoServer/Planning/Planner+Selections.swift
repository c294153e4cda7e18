internal import CarabinerSchema
internal import CarabinerWire

extension Planner {
  /// The selections for a type, without skipped ones. Problems are recorded.
  mutating func selections(
    _ located: [LocatedSelection], of type: String, depth: Int
  ) -> [PlannedSelection] {
    guard depth <= limits.depth else {
      if let first = located.first {
        complain("selections are nested deeper than \(limits.depth)", at: first.place, code: "TOO_COMPLEX")
      }
      return []
    }
    var planned: [PlannedSelection] = []
    for selection in located {
      // Fragments are counted at each use. Otherwise a few nested fragments could select a billion fields.
      fieldCount += 1
      guard fieldCount <= limits.fields else {
        if fieldCount == limits.fields + 1 {
          complain("more than \(limits.fields) fields and fragments are asked for", at: selection.place, code: "TOO_COMPLEX")
        }
        return []
      }
      if let part = self.selection(selection, of: type, depth: depth) { planned.append(part) }
    }
    return planned
  }

  private mutating func selection(_ located: LocatedSelection, of type: String, depth: Int) -> PlannedSelection? {
    switch located.selection {
    case .field(let field):
      let isWanted = directives(field.directives, allowsDefer: false, at: located.place).isWanted
      return self.field(field, located, of: type, depth: depth).flatMap { isWanted ? .field($0) : nil }
    case .inlineFragment(let fragment):
      let directives = directives(fragment.directives, allowsDefer: true, at: located.place)
      return self.fragment(
        on: fragment.typeCondition ?? type, located.children, in: type, directives, at: located.place, depth: depth)
    case .fragmentSpread(let spread):
      let directives = directives(spread.directives, allowsDefer: true, at: located.place)
      guard let (fragment, children) = fragments[spread.name] else {
        complain("there is no fragment \(spread.name.debugDescription)", at: located.place)
        return nil
      }
      guard !openFragments.contains(spread.name) else {
        complain("the fragment \(spread.name.debugDescription) contains itself", at: located.place)
        return nil
      }
      openFragments.append(spread.name)
      defer { openFragments.removeLast() }
      return self.fragment(on: fragment.typeCondition, children, in: type, directives, at: located.place, depth: depth)
    }
  }

  private mutating func fragment(
    on condition: String, _ children: [LocatedSelection], in type: String, _ directives: DirectiveEffect,
    at place: GraphQLPlaces.Place, depth: Int
  ) -> PlannedSelection? {
    guard let conditionType = schema.selectedType(named: condition), conditionType.isComposite else {
      complain("there is no object, interface or union \(condition.debugDescription)", at: place)
      return nil
    }
    guard let parent = schema.selectedType(named: type), conditionType === parent || schema.overlap(conditionType, parent) else {
      complain("a \(type) is never a \(condition)", at: place)
      return nil
    }
    let selections = self.selections(children, of: condition, depth: depth + 1)
    guard directives.isWanted else { return nil }
    if directives.deferral != nil { isDeferred = true }
    return .fragment(
      PlannedFragment(
        types: schema.possibleTypes(of: conditionType).map(\.name), deferral: directives.deferral, selections: selections))
  }

  private mutating func field(
    _ field: GraphQLDocument.Field, _ located: LocatedSelection, of type: String, depth: Int
  ) -> PlannedField? {
    guard let definition = schema.selectedType(named: type).flatMap({ schema.field(field.name, selectedOn: $0) }) else {
      complain("\(type) has no field \(field.name.debugDescription)\(suggestion(for: field.name, in: type))", at: located.place)
      return nil
    }
    let arguments = arguments(
      field.arguments, definition.arguments, of: "field \(field.name.debugDescription)", at: located.place)
    let fieldType = definition.type.name
    let isComposite = schema.selectedType(named: fieldType)?.isComposite == true
    if isComposite, field.selectionSet.isEmpty {
      complain(
        "\(field.name.debugDescription) is of type \(definition.type): add a selection of its fields", at: located.place)
    } else if !isComposite, !field.selectionSet.isEmpty {
      complain("\(field.name.debugDescription) is of type \(definition.type), which has no fields", at: located.place)
      return nil
    }
    return PlannedField(
      responseKey: field.responseKey, definition: definition, arguments: arguments, place: located.place,
      selections: selections(located.children, of: fieldType, depth: depth + 1))
  }

  private func suggestion(for name: String, in type: String) -> String {
    let names = schema.type(named: type)?.fields.map(\.name) ?? []
    let lowered = name.lowercased()
    let near = names.first { $0.lowercased() == lowered || $0.hasPrefix(name) || name.hasPrefix($0) }
    return near.map { "; did you mean \($0.debugDescription)?" } ?? ""
  }
}
