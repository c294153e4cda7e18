internal import CarabinerWire

/// The deferred fragments that a load may leave out.
struct DeferredFragments {
  /// A deferred fragment of one object.
  struct Place: Hashable {
    let record: String
    /// The number of the `@defer`.
    let deferral: Int
  }

  /// The fragments of which the store lacks a field.
  var missing: Set<Place> = []
  /// For each node, the field that led to it.
  var path: [ResponseLoader.Pending] = []
  /// The labels of the fragments that were left out, by the number of their node.
  var leftOut: [Int: [String?]] = [:]
}

extension ResponseLoader {
  /// The maximal number of rounds. A round is repeated if it finds more fragments that lack a field.
  private static var maximumRounds: Int { 8 }

  /// The response without the deferred fragments of which the store lacks a field; nil if it lacks another field.
  ///
  /// A round finds the fragments to leave out, and the next one leaves them out. Two rounds are enough unless fragments overlap.
  ///
  /// - Throws: The error of the cache; ``StoreError`` with code `malformedRecord`.
  static func loadWithoutMissingFragments(
    _ plan: OperationPlan, variables: JSONObject, policy: CacheKeyPolicy, now: Int64, from cache: any NormalizedCache,
    wantsDependentKeys: Bool
  ) async throws -> Loaded? {
    var (missing, dependentKeys): (Set<DeferredFragments.Place>, Set<String>) = ([], [])
    for _ in 0..<maximumRounds {
      var loader = ResponseLoader(
        plan, variables: variables, policy: policy, now: now, deferred: DeferredFragments(missing: missing))
      guard var loaded = try await loader.load(from: cache, wantsDependentKeys: wantsDependentKeys) else { return nil }
      // The fields of the missing fragments count too, so that a watcher sees when they arrive.
      dependentKeys.formUnion(loaded.dependentKeys)
      loaded.dependentKeys = dependentKeys
      let found = loader.deferred?.missing ?? []
      if found.count == missing.count { return loaded }
      missing = found
    }
    return nil
  }

  /// Whether a part is a deferred fragment that is left out of the object that is added next.
  mutating func isLeftOut(_ part: SelectionPlan.Part, of record: Record) -> Bool {
    guard deferred != nil, let number = part.deferral, call.allows(plan.source.deferrals[number]),
      deferred?.missing.contains(DeferredFragments.Place(record: record.key, deferral: number)) == true
    else { return false }
    deferred?.leftOut[nodes.count, default: []].append(plan.source.deferrals[number].label)
    return true
  }

  /// Marks the deferred fragments that some parts of a node's object belong to as missing.
  ///
  /// - Returns: Whether the response can do without the parts.
  mutating func leaveOutFragments(with parts: UInt64, of node: Int) -> Bool {
    guard deferred != nil, let places = fragments(with: parts, of: node) else { return false }
    deferred?.missing.formUnion(places)
    return true
  }

  /// The deferred fragments that some parts of a node's object belong to; nil if one of the parts belongs to none.
  private func fragments(with parts: UInt64, of node: Int) -> Set<DeferredFragments.Place>? {
    guard let pending = deferred?.path[node] else { return nil }
    var places: Set<DeferredFragments.Place> = []
    for number in pending.plan.parts.indices where parts & 1 << UInt64(number) != 0 {
      switch surrounding(number, pending) {
      case .fragment(let place): places.insert(place)
      case .partsAbove(let parts):
        guard pending.parent >= 0, let above = fragments(with: parts, of: pending.parent) else { return nil }
        places.formUnion(above)
      }
    }
    return places
  }

  /// The surrounding of a part of an object.
  private enum Surrounding {
    case fragment(DeferredFragments.Place)
    /// No deferred fragment of the same object, but these parts of the object above, one bit each.
    case partsAbove(UInt64)
  }

  private func surrounding(_ number: Int, _ pending: Pending) -> Surrounding {
    var place: Int? = number
    while let late = place.flatMap({ pending.plan.parts[$0].latePart }) {
      let part = pending.plan.parts[late]
      if let origin = part.origin { return .partsAbove(1 << UInt64(origin)) }
      if let deferral = part.deferral, call.allows(plan.source.deferrals[deferral]) {
        return .fragment(DeferredFragments.Place(record: pending.key, deferral: deferral))
      }
      place = part.parent
    }
    guard pending.parent >= 0 else { return .partsAbove(0) }
    return .partsAbove(nodes[pending.parent].variant.fields[pending.field].parts)
  }

  // MARK: What was left out

  /// The deferred fragments that were left out, each with the path of its object.
  func pendingFragments() -> [PendingFragment] {
    guard let deferred, !deferred.leftOut.isEmpty else { return [] }
    var fragments: [PendingFragment] = []
    addPending(of: 0, at: [], deferred.leftOut, to: &fragments)
    return fragments
  }

  private func addPending(
    of number: Int, at path: [JSONValue], _ leftOut: [Int: [String?]], to fragments: inout [PendingFragment]
  ) {
    for label in leftOut[number] ?? [] { fragments.append(PendingFragment(label: label, path: path)) }
    guard let places = nodes[number].places else { return }
    let (variant, table) = (nodes[number].variant, nodes[number].record.table)
    let buffer = table.buffer
    var child = nodes[number].firstChild
    for position in variant.fields.indices where variant.fields[position].selection != nil {
      let place = self.places[places + position]
      if place == Self.missing { continue }
      let value = place < 0 ? made[-place - 1] : Array(buffer[table.range(at: place)])
      for indices in Reference.places(in: value.span) {
        let steps = [.string(variant.fields[position].responseKey)] + indices.map { JSONValue.number(JSONNumber($0)) }
        addPending(of: child, at: path + steps, leftOut, to: &fragments)
        child += 1
      }
    }
  }
}
