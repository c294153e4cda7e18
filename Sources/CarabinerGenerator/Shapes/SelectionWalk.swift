internal import CarabinerSchema
internal import CarabinerWire

/// Walks the selections of objects: the fields that hold in a scope, and the fragments that do not.
struct SelectionWalk {
  /// The most fragments inside each other. The walk is recursive.
  private static let maximumDepth = 300

  let schema: Schema
  let fragments: [String: FragmentDefinitionNode]
  /// The selections that may still be visited. Merging could otherwise take exponential time.
  private(set) var stepsLeft: Int
  private(set) var problem: GeneratorProblem?

  init(schema: Schema, fragments: [String: FragmentDefinitionNode], steps: Int) {
    self.schema = schema
    self.fragments = fragments
    stepsLeft = steps
  }

  /// A fragment that is merged, with what holds in its own type.
  private struct Origin {
    let name: String
    let scope: Scope
  }

  private struct Visit: Hashable {
    let fragment: String
    let origin: String?
  }

  // MARK: Fields

  /// The fields and fragments of selection sets that hold in a scope.
  mutating func collection(of lists: [TypedSelections], in scope: Scope) -> Collection {
    var collection = Collection()
    var visited: Set<Visit> = []
    for list in lists { collect(list.selections.selections, in: scope, list.type, nil, 0, &visited, into: &collection) }
    return collection
  }

  private mutating func collect(
    _ nodes: [SelectionNode], in scope: Scope, _ parent: Schema.NamedType, _ origin: Origin?, _ depth: Int,
    _ visited: inout Set<Visit>, into collection: inout Collection
  ) {
    for node in nodes where take(node, depth) {
      switch node {
      case .field(let field):
        guard let conditions = scope.remaining(field.conditions) else { continue }
        collection.add(
          Collection.Contribution(
            node: field, conditions: conditions, parent: parent, origin: field.conditions.isEmpty ? origin?.name : nil))
      case .fragment(let fragment):
        guard let type = type(of: fragment, in: parent), let conditions = scope.remaining(fragment.conditions),
          scope.implies(type, schema)
        else { continue }
        if let name = fragment.name {
          let isDeferred = fragment.deferral.map { !scope.deferrals.contains($0) } ?? false
          let isOwn = origin.map { holds(fragment, type, in: $0.scope) } != true
          collection.add(
            Collection.Fragment(
              name: name, isConditional: !conditions.isEmpty, isDeferred: isDeferred, origin: isOwn ? nil : origin?.name))
        }
        guard conditions.isEmpty, fragment.deferral.map(scope.deferrals.contains) ?? true else { continue }
        let inner = self.origin(inside: fragment, type, origin)
        if let name = fragment.name, !visited.insert(Visit(fragment: name, origin: inner?.name)).inserted { continue }
        collect(selections(of: fragment), in: scope, type, inner, depth + 1, &visited, into: &collection)
      }
    }
  }

  /// The fragment that has the fields of another one in its type.
  private func origin(inside fragment: FragmentNode, _ type: Schema.NamedType, _ origin: Origin?) -> Origin? {
    if let origin, holds(fragment, type, in: origin.scope) {
      return Origin(name: origin.name, scope: origin.scope.adding(type, []))
    }
    // The type of a deferred fragment is read apart from the rest.
    guard let name = fragment.name, fragment.deferral == nil else { return nil }
    return Origin(name: name, scope: Scope(type))
  }

  private func holds(_ fragment: FragmentNode, _ type: Schema.NamedType, in scope: Scope) -> Bool {
    fragment.conditions.isEmpty && fragment.deferral == nil && scope.implies(type, schema)
  }

  // MARK: Views

  /// The fragments of selections that do not hold in a scope.
  mutating func views(of nodes: [SelectionNode], in scope: Scope) -> ViewRegistry {
    var registry = ViewRegistry()
    var visited: Set<String> = []
    guard let parent = scope.types.last else { return registry }
    register(nodes, in: scope, parent, 0, &visited, into: &registry)
    return registry
  }

  private mutating func register(
    _ nodes: [SelectionNode], in scope: Scope, _ parent: Schema.NamedType, _ depth: Int, _ visited: inout Set<String>,
    into registry: inout ViewRegistry
  ) {
    for node in nodes where take(node, depth) {
      guard case .fragment(let fragment) = node, let type = type(of: fragment, in: parent), scope.allows(type, schema),
        let conditions = scope.remaining(fragment.conditions)
      else { continue }
      let isImplied = scope.implies(type, schema)
      guard isImplied, conditions.isEmpty else {
        registry.add(fragment, isImplied ? nil : type, conditions)
        continue
      }
      if let label = fragment.deferral, !scope.deferrals.contains(label) {
        if let selections = fragment.selections { registry.add(deferred: selections, label: label) }
        continue
      }
      if let name = fragment.name, !visited.insert(name).inserted { continue }
      register(selections(of: fragment), in: scope, type, depth + 1, &visited, into: &registry)
    }
  }

  // MARK: Fragments

  private func type(of fragment: FragmentNode, in parent: Schema.NamedType) -> Schema.NamedType? {
    if let name = fragment.name { return fragments[name].flatMap { schema.type(named: $0.definition.typeCondition) } }
    guard let condition = fragment.typeCondition else { return parent }
    return schema.type(named: condition)
  }

  private func selections(of fragment: FragmentNode) -> [SelectionNode] {
    (fragment.selections ?? fragment.name.flatMap { fragments[$0]?.selections })?.selections ?? []
  }

  /// Whether a selection may be visited.
  private mutating func take(_ node: SelectionNode, _ depth: Int) -> Bool {
    guard problem == nil else { return false }
    let place =
      switch node {
      case .field(let field): field.place
      case .fragment(let fragment): fragment.place
      }
    guard depth <= Self.maximumDepth else {
      problem = place.problem("fragments are nested deeper than \(Self.maximumDepth); spread them in fewer levels")
      return false
    }
    guard stepsLeft > 0 else {
      problem = place.problem("merging the fragments takes too many steps; use fewer fragments that overlap")
      return false
    }
    stepsLeft -= 1
    return true
  }
}
