extension SchemaValidator {
  /// The most names of a cycle in a message.
  private static var maximumNames: Int { 5 }

  /// The first names of a cycle.
  static func names(_ names: some Collection<String>) -> String {
    let shown = names.prefix(maximumNames).joined(separator: ", ")
    return names.count > maximumNames ? "\(shown) and \(names.count - maximumNames) more" : shown
  }

  /// Interfaces that implement themselves.
  mutating func checkInterfaceCycles() {
    let types = schema.storage.types
    let graph = StronglyConnectedComponents(count: types.count) { id in
      types[id]?.kind == .interface ? types[id]?.interfaces.map(\.id) ?? [] : []
    }
    for cycle in graph.cyclic {
      let members = cycle.compactMap { types[$0] }
      guard let first = members.first else { continue }
      report(
        .interfaceCycles, first.name,
        "an interface implements itself, directly or through others: \(Self.names(members.map(\.name))); remove one from implements",
        at: first.location)
    }
  }

  /// Directives whose arguments use the directive itself.
  mutating func checkDirectiveCycles() {
    let directives = schema.directives
    let types = schema.storage.types
    let numbers = Dictionary(uniqueKeysWithValues: directives.enumerated().map { ($1.name, $0) })
    // Directives come first, then types.
    func used(_ applied: [Schema.AppliedDirective]) -> [Int] { applied.compactMap { numbers[$0.name] } }
    func used(_ values: [Schema.InputValue]) -> [Int] {
      values.flatMap { used($0.appliedDirectives) + [directives.count + $0.type.id] }
    }
    let graph = StronglyConnectedComponents(count: directives.count + types.count) { node in
      if node < directives.count { return used(directives[node].arguments) }
      guard let type = types[node - directives.count], type.isInput else { return [] }
      return used(type.appliedDirectives) + used(type.inputFields) + type.values.flatMap { used($0.appliedDirectives) }
    }
    for cycle in graph.cyclic {
      // Input objects may refer to each other.
      let members = cycle.filter { $0 < directives.count }.map { directives[$0] }
      guard let first = members.first else { continue }
      report(
        .directiveCycles, "@\(first.name)",
        "a directive is used on its own arguments, or on their types: \(Self.names(members.map { "@\($0.name)" })); remove one use",
        at: first.location)
    }
  }

  /// Input objects of which no finite value exists, because a required field leads back to the object.
  mutating func checkInputObjectCycles() {
    let types = schema.storage.types
    // The input object that a value needs; nil if a list, null or a leaf will do.
    func needed(_ field: Schema.InputValue, of type: Schema.NamedType) -> Int? {
      guard !field.type.isList, field.type.isNonNull || type.isOneOf else { return nil }
      return types[field.type.id]?.kind == .inputObject ? field.type.id : nil
    }
    var missing = [Int](repeating: 0, count: types.count)
    var dependents = [[Int]](repeating: [], count: types.count)
    var isPossible = [Bool](repeating: true, count: types.count)
    var ready: [Int] = []
    for (id, type) in types.enumerated() {
      guard let type, type.kind == .inputObject else { continue }
      let ids = type.inputFields.compactMap { needed($0, of: type) }
      // With @oneOf, a field that needs no other object is enough. Otherwise all needed objects must be possible.
      if ids.isEmpty || type.isOneOf && ids.count < type.inputFields.count {
        ready.append(id)
        continue
      }
      isPossible[id] = false
      missing[id] = type.isOneOf ? 1 : ids.count
      for other in ids { dependents[other].append(id) }
    }
    while let id = ready.popLast() {
      for dependent in dependents[id] {
        missing[dependent] -= 1
        guard missing[dependent] == 0 else { continue }
        isPossible[dependent] = true
        ready.append(dependent)
      }
    }
    // Each impossible object needs another one. Following the first need of each leads into the cycles.
    let graph = StronglyConnectedComponents(count: types.count) { id in
      guard !isPossible[id], let type = types[id] else { return [] }
      return type.inputFields.lazy.compactMap { needed($0, of: type) }.first { !isPossible[$0] }.map { [$0] } ?? []
    }
    for cycle in graph.cyclic {
      let members = cycle.compactMap { types[$0] }
      guard let first = members.first else { continue }
      report(
        .inputObjectCycles, first.name,
        """
        no value of these input objects can be finite, because each needs the next: \(Self.names(members.map(\.name))); \
        make a field between them optional, or a list
        """, at: first.location)
    }
  }
}
