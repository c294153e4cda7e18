internal import CarabinerSchema

extension ShapeBuilder {
  /// Adds the property of a field, and the type of its objects.
  mutating func add(
    _ field: Collection.Field, to shape: ObjectShape, _ children: inout KnownChildren, outer: [KnownChildren]
  ) {
    let contributions = field.contributions
    // An own selection can have a more specific type than one of a fragment.
    let chosen =
      contributions.first { $0.origin == nil && $0.conditions.isEmpty } ?? contributions.first { $0.conditions.isEmpty }
      ?? contributions.first
    guard let chosen else { return }
    guard let definition = definition(chosen), let type = schema.type(of: definition.type) else {
      problems.append(
        chosen.node.place.problem(
          "\(chosen.node.name) describes the schema, and no code is generated for it; remove it, and read the schema by another request"
        ))
      return
    }
    let property = naming.property(of: chosen.node, in: chosen.parent)
    var forwardedTo = chosen.conditions.isEmpty ? chosen.origin : nil
    let leaf: FieldShape.Leaf
    switch type.kind {
    case .scalar: leaf = naming.builtIn(type.name).map { .builtIn($0) } ?? .scalar(type.name)
    case .enumeration: leaf = .enumeration(type.name)
    case .object, .interface, .union, .inputObject:
      if forwardedTo != nil, contributions.contains(where: { $0.origin != forwardedTo }) { forwardedTo = nil }
      let name = naming.child(property, isList: definition.type.isList)
      guard isFree(name, field.responseKey, [children] + outer, chosen) else { return }
      let part = ChildPart(name: name, field: field, fragment: forwardedTo, place: chosen.node.place)
      leaf = .object(name, child(part, of: shape, &children, outer: outer))
    }
    shape.fields.append(
      FieldShape(
        responseKey: field.responseKey, property: property, renameKey: naming.renameKey(of: chosen.node, in: chosen.parent),
        definition: definition, leaf: leaf, isConditional: field.isConditional,
        forwardedTo: forwardedTo.map(naming.fragmentProperty), place: chosen.node.place))
  }

  private func definition(_ contribution: Collection.Contribution) -> Schema.Field? {
    contribution.node.name == "__typename" ? .typeName : contribution.parent.field(named: contribution.node.name)
  }

  /// Whether no other field has the name as its type, here or around it.
  private mutating func isFree(
    _ name: String, _ key: String, _ children: [KnownChildren], _ chosen: Collection.Contribution
  ) -> Bool {
    guard let other = children.lazy.compactMap({ $0.keysByName[name] }).first(where: { $0 != key }) else { return true }
    problems.append(
      chosen.node.place.problem(
        "the objects of \(key) and of \(other) would both be of the type \(name); use an alias for one of the fields"))
    return false
  }

  // MARK: Objects

  /// A field with objects.
  struct ChildPart {
    let name: String
    let field: Collection.Field
    /// The fragment that has the value; nil if it is stored here.
    let fragment: String?
    let place: SourcePlace
  }

  /// The type of the objects of a field; nil if a fragment has it.
  private mutating func child(
    _ part: ChildPart, of shape: ObjectShape, _ children: inout KnownChildren, outer: [KnownChildren]
  ) -> ObjectShape? {
    let contributions = part.field.contributions
    let first = contributions.first?.conditions ?? []
    // Conditions that all selections share are conditions of the field itself.
    let shared = contributions.allSatisfy { $0.conditions == first } ? first : []
    let parts = contributions.map { contribution in
      ChildKey.Part(
        list: contribution.node.selections?.id ?? 0,
        conditions: contribution.conditions == shared ? [] : contribution.conditions)
    }
    let key = ChildKey(parts: Set(parts), conditions: Set(shared))
    // Swift resolves a name to the nearest type around it.
    if let known = outer.lazy.compactMap({ $0.byKey[part.field.responseKey] }).first, known.key == key {
      children.byKey[part.field.responseKey] = known
      children.keysByName[part.name] = part.field.responseKey
      shape.aliases.append(known.path)
      return known.shape
    }
    children.keysByName[part.name] = part.field.responseKey
    if let fragment = part.fragment {
      let path = TypePath(naming.fragment(fragment), [part.name])
      shape.aliases.append(path)
      children.byKey[part.field.responseKey] = (key, nil, path)
      return nil
    }
    var scope = Scope(types: [], conditions: Set(shared))
    var lists: [TypedSelections] = []
    for (contribution, part) in zip(contributions, parts) {
      guard let type = definition(contribution).flatMap({ schema.type(of: $0.type) }) else { continue }
      lists.append(TypedSelections(selections: list(contribution, part, type), type: type))
      // The types of one field can differ, because a type may narrow a field of its interface. The object has all these types.
      if part.conditions.isEmpty { scope.add(type) }
    }
    if scope.types.isEmpty, let first = lists.first { scope.add(first.type) }
    let child = self.shape(
      shape.path.inner(part.name), scope, lists, views: lists.flatMap(\.selections.selections), place: part.place)
    shape.children.append(child)
    children.byKey[part.field.responseKey] = (key, child, child.path)
    return child
  }

  /// The selections of a field. If they have conditions that not all selections of the field share, they become a conditional
  /// fragment.
  private mutating func list(
    _ contribution: Collection.Contribution, _ part: ChildKey.Part, _ type: Schema.NamedType
  ) -> SelectionList {
    let node = contribution.node
    guard let selections = node.selections else { return SelectionList(id: freshID(), []) }
    if part.conditions.isEmpty { return selections }
    let fragment = FragmentNode(
      name: nil, typeCondition: type.name, conditions: part.conditions, deferral: nil, selections: selections, place: node.place)
    return SelectionList(id: freshID(), [.fragment(fragment)])
  }
}
