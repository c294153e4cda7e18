internal import CarabinerWire

extension DocumentCheck {
  /// Fields that the result has in one object, from one or several selection sets.
  private struct Merged {
    /// The fields, in the order of the text, with the field whose selection set has each; nil for the outermost fields.
    let fields: [(field: Int, parent: Int?)]
    /// The number of the merged fields that these are inside of.
    let outer: Int?
  }

  /// Checks that fields with one name in the result are the same field.
  ///
  /// Fields are compared in groups instead of pairs: all fields that the result has in one object, by their name in the result. The
  /// selection sets of a group are merged and checked in the same way, each merged set once. So the time does not grow with the square
  /// of the fields. The idea is from "Fast and simple overlapping fields validation" by Simon Adameit.
  mutating func checkOverlappingFields() {
    guard schema != nil else { return }
    var reported: Set<[Int]> = []
    for compare in [Self.compareSameObject, Self.compareShapes] {
      var merged: [Merged] = []
      var seen: Set<[Int]> = []
      // A fragment that an operation contains is compared there.
      var isCompared = [Bool](repeating: false, count: sets.count)
      for definition in definitions.filter({ $0.operation != nil }) + definitions.filter({ $0.operation == nil })
      where !isCompared[definition.set] {
        guard let fields = expanded([(definition.set, nil)], &isCompared) else { return }
        if seen.insert(fields.map(\.field)).inserted { merged.append(Merged(fields: fields, outer: nil)) }
      }
      var next = 0
      while next < merged.count {
        for group in Grouping(merged[next].fields, by: { fields[$0.field].responseKey }).groups {
          guard step(group.count) else { return }
          let (conflicts, inner) = compare(self)(group.map(\.field))
          for pair in conflicts where reported.insert(pair.sorted()).inserted {
            report(pair, in: merged, next)
          }
          guard conflicts.isEmpty else { continue }
          for members in inner {
            guard step(members.count) else { return }
            let sets = members.compactMap { field in fields[field].set.map { (set: $0, parent: Optional(field)) } }
            if sets.isEmpty { continue }
            guard let fields = expanded(sets, &isCompared) else { return }
            if seen.insert(fields.map(\.field)).inserted { merged.append(Merged(fields: fields, outer: next)) }
          }
        }
        next += 1
      }
    }
  }

  /// The fields of selection sets and of the fragments in them, each once, in the order of the text; nil if there were too many steps.
  private mutating func expanded(
    _ sets: [(set: Int, parent: Int?)], _ isCompared: inout [Bool]
  ) -> [(field: Int, parent: Int?)]? {
    var found: [(field: Int, parent: Int?)] = []
    var seen: Set<Int> = []
    var waiting = sets
    while let (set, parent) = waiting.popLast() {
      guard seen.insert(set).inserted else { continue }
      isCompared[set] = true
      guard step(self.sets[set].selections.count + 1) else { return nil }
      for selection in self.sets[set].selections {
        switch selection.kind {
        case .field(let field): found.append((field, parent))
        case .inline(let inner): waiting.append((inner, parent))
        case .spread(let fragment): waiting.append((definitions[fragment].set, parent))
        }
      }
    }
    return found.sorted { $0.field < $1.field }
  }

  /// Fields of one object have one name and the same arguments. Fields of different object types are never in one object.
  ///
  /// - Returns: Pairs that are in conflict, or the groups whose selection sets are in one object.
  private func compareSameObject(_ group: [Int]) -> (conflicts: [[Int]], inner: [[Int]]) {
    let abstract = group.filter { fields[$0].parent?.kind != .object }
    let objects = Grouping(group.filter { fields[$0].parent?.kind == .object }, by: { fields[$0].parent?.name ?? "" }).groups
    func conflicts(_ first: Int?, _ others: [Int]) -> [[Int]] {
      guard let first else { return [] }
      return others.filter { $0 != first && !isSame(fields[first], fields[$0]) }.map { [first, $0] }
    }
    let found = conflicts(abstract.first, abstract) + objects.flatMap { conflicts(abstract.first ?? $0.first, $0) }
    guard group.contains(where: { fields[$0].set != nil }) else { return (found, []) }
    return (found, objects.isEmpty ? [abstract] : objects.map { (abstract + $0).sorted() })
  }

  private func isSame(_ one: FieldPart, _ other: FieldPart) -> Bool {
    one.name == other.name && one.arguments == other.arguments && one.stream == other.stream
  }

  /// Fields of one name in the result have the same lists and exclamation marks, and leaves the same type.
  private func compareShapes(_ group: [Int]) -> (conflicts: [[Int]], inner: [[Int]]) {
    let known = group.filter { fields[$0].type != nil }
    guard let first = known.first else { return ([], [group]) }
    let shape = shape(of: first)
    return (known.dropFirst().filter { self.shape(of: $0) != shape }.map { [first, $0] }, [group])
  }

  private func shape(of field: Int) -> Schema.TypeReference? {
    guard let reference = fields[field].type, let type = type(of: reference) else { return nil }
    return type.isComposite ? reference.renamed("") : reference
  }

  private static func text(ofArguments field: FieldPart) -> String {
    field.arguments.isEmpty ? "no arguments" : "the arguments \(field.arguments.shortened)"
  }

  /// Reports two fields, with those that they are inside of.
  private mutating func report(_ pair: [Int], in merged: [Merged], _ place: Int) {
    var (left, right) = ([pair[0]], [pair[1]])
    var place: Int? = place
    while let current = place, left[0] != right[0] {
      let parent = { (field: Int) in merged[current].fields.first { $0.field == field }?.parent }
      guard let one = parent(left[0]), let other = parent(right[0]), one != other else { break }
      left.insert(one, at: 0)
      right.insert(other, at: 0)
      place = merged[current].outer
    }
    let (one, other) = (fields[pair[0]], fields[pair[1]])
    let path = left.map { fields[$0].responseKey }.joined(separator: ".")
    let reason =
      if one.name != other.name {
        "\(one.name) and \(other.name) are different fields"
      } else if one.arguments != other.arguments {
        "one has \(Self.text(ofArguments: one)), and one \(Self.text(ofArguments: other))"
      } else if one.stream != other.stream {
        "they have different @stream"
      } else {
        "one is of type \(one.type?.description ?? ""), and one of type \(other.type?.description ?? "")"
      }
    report(
      .overlappingFieldsCanBeMerged, "the fields \(path) cannot be one in the result: \(reason); give one of them an alias",
      at: (left + right).map { fields[$0].offset })
  }
}
