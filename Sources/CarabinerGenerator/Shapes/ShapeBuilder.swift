internal import CarabinerSchema
internal import CarabinerWire

/// Finds the types that an operation or a fragment needs, and their properties.
struct ShapeBuilder {
  /// The fields of an object by their key, with the selections they are of.
  struct ChildKey: Hashable {
    struct Part: Hashable {
      let list: Int
      let conditions: [Condition]
    }

    let parts: Set<Part>
    let conditions: Set<Condition>
  }

  /// The types of fields that a type or one around it has.
  struct KnownChildren {
    var byKey: [String: (key: ChildKey, shape: ObjectShape?, path: TypePath)] = [:]
    var keysByName: [String: String] = [:]
  }

  let schema: Schema
  let naming: Naming
  var walk: SelectionWalk
  var problems: [GeneratorProblem] = []
  private let rootTypes: Set<String>
  private var nextID = -1

  init(schema: Schema, definitions: Definitions, configuration: GeneratorConfiguration) {
    self.schema = schema
    naming = Naming(configuration)
    walk = SelectionWalk(schema: schema, fragments: definitions.fragmentsByName, steps: configuration.maximumSteps)
    rootTypes = Set(Schema.OperationType.allCases.compactMap { schema.rootTypeName(of: $0) })
  }

  /// The type of the data of an operation.
  mutating func shape(of operation: OperationNode) -> ObjectShape? {
    guard let type = schema.rootType(of: operation.definition.type) else { return nil }
    let name = naming.operation(operation.name, operation.definition.type, isLocal: operation.isLocal)
    return shape(
      TypePath(name, ["Data"]), Scope(type), [TypedSelections(selections: operation.selections, type: type)],
      views: operation.selections.selections, place: operation.place)
  }

  /// The type of a fragment.
  mutating func shape(of fragment: FragmentDefinitionNode) -> ObjectShape? {
    guard let type = schema.type(named: fragment.definition.typeCondition) else { return nil }
    return shape(
      TypePath(naming.fragment(fragment.name)), Scope(type), [TypedSelections(selections: fragment.selections, type: type)],
      views: fragment.selections.selections, place: fragment.place)
  }

  /// A type with the fields of selection sets.
  ///
  /// - Parameters:
  ///   - nodes: The selections whose conditional fragments become views here. Other fragments are views of a type around this one.
  ///   - outer: The types of fields of the types around it, from inside.
  mutating func shape(
    _ path: TypePath, _ scope: Scope, _ lists: [TypedSelections], views nodes: [SelectionNode],
    outer: [KnownChildren] = [], place: SourcePlace
  ) -> ObjectShape {
    let collection = walk.collection(of: lists, in: scope)
    // The type of the root is known, and a subscription may select nothing beside its field.
    let isRoot = scope.types.contains { rootTypes.contains($0.name) }
    let shape = ObjectShape(path: path, hasTypeName: !isRoot || collection.hasTypeName)
    var children = KnownChildren()
    for field in collection.fields where field.responseKey != "__typename" {
      add(field, to: shape, &children, outer: outer)
    }
    let registry = walk.views(of: nodes, in: scope)
    for view in registry.views where walk.problem == nil {
      let name = naming.view(view.type, view.conditions)
      let inner = self.shape(
        path.inner(Words.capitalized(name)), scope.adding(view.type, view.conditions), lists, views: view.nodes,
        outer: [children] + outer, place: place)
      shape.views.append(
        ViewShape(property: name, type: view.type, isConditional: !view.conditions.isEmpty, shape: inner))
    }
    for (label, selections) in registry.deferred where walk.problem == nil {
      let inner = self.shape(
        path.inner(naming.deferred(label)), scope.adding(nil, [], deferral: label), lists, views: selections.selections,
        outer: [children] + outer, place: place)
      shape.deferred.append(DeferredShape(property: Words.decapitalized(label), shape: inner))
    }
    for fragment in collection.fragments {
      shape.fragments.append(
        FragmentShape(
          name: naming.fragment(fragment.name), property: naming.fragmentProperty(fragment.name),
          renameKey: Naming.renameKey(ofFragment: fragment.name), isConditional: fragment.isConditional,
          isDeferred: fragment.isDeferred,
          forwardedTo: fragment.origin.map(naming.fragmentProperty)))
    }
    checkNames(of: shape, place)
    return shape
  }

  mutating func freshID() -> Int {
    nextID -= 1
    return nextID
  }
}
