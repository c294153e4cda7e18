internal import CarabinerSchema

/// The facts about an object at a place in a document.
struct Scope {
  /// The type of the field or fragment, and the types of the fragments around the place.
  private(set) var types: [Schema.NamedType]
  private(set) var conditions: Set<Condition>
  private(set) var deferrals: Set<String> = []

  init(_ type: Schema.NamedType) { self.init(types: [type], conditions: []) }

  init(types: [Schema.NamedType], conditions: Set<Condition>) {
    self.types = types
    self.conditions = conditions
  }

  /// Adds a type that each object of the scope is of.
  mutating func add(_ type: Schema.NamedType) {
    if !types.contains(where: { $0.name == type.name }) { types.append(type) }
  }

  /// The scope inside a fragment.
  func adding(_ type: Schema.NamedType?, _ conditions: [Condition], deferral: String? = nil) -> Scope {
    var scope = self
    if let type { scope.types.append(type) }
    scope.conditions.formUnion(conditions)
    if let deferral { scope.deferrals.insert(deferral) }
    return scope
  }

  /// Whether each object of the scope is of a type.
  func implies(_ type: Schema.NamedType, _ schema: Schema) -> Bool {
    types.contains { known in
      known.name == type.name || known.interfaces.contains { $0.name == type.name }
        || schema.object(known.name, fits: type.name) == true
    }
  }

  /// Whether an object of the scope can be of a type.
  func allows(_ type: Schema.NamedType, _ schema: Schema) -> Bool { types.allSatisfy { schema.overlap($0, type) } }

  /// The conditions that are not known; nil if one is known not to hold.
  func remaining(_ conditions: [Condition]) -> [Condition]? {
    if conditions.isEmpty { return [] }
    if conditions.contains(where: { self.conditions.contains($0.opposite) }) { return nil }
    return conditions.filter { !self.conditions.contains($0) }
  }
}
