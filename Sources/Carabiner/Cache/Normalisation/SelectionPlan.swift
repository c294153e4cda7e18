internal import CarabinerWire
internal import Synchronization

/// The flattened selection of an object. Fragments without a condition become fields, the others become parts.
final class SelectionPlan: Sendable {
  /// Fields that are present together or missing together.
  struct Part: Sendable {
    let parent: Int?
    let guards: [Int]
    let typeCondition: String?
    /// The field of a record that stores whether the object's type satisfies the condition.
    let fact: String?
    /// The number of the `@defer` that the part is under directly; nil if there is none.
    let deferral: Int?
    /// The part of the object above from which the selection comes, if other parts of that object select the same field and are
    /// not deferred together with it.
    let origin: Int?
    /// The innermost part around the fields, this one included, that may arrive later than the rest of the object; nil if none may.
    fileprivate(set) var latePart: Int?
    /// The parts, one bit each, that use a response name for another field than this part does. GraphQL allows that only on two
    /// object types.
    fileprivate(set) var rivals: UInt64 = 0
    fileprivate(set) var fields: [(order: Int, field: PlanSource.Field)] = []

    /// Whether the part applies to objects of a type; nil if that is not known.
    func applies(to type: String, _ schema: StoreSchema?) -> Bool? {
      guard let typeCondition, typeCondition != type else { return true }
      return schema?.object(type, fits: typeCondition) ?? (rivals != 0 ? false : nil)
    }
  }

  private static var maximumParts: Int { 64 }
  private static var maximumSelections: Int { 20_000 }
  private static var maximumVariants: Int { 128 }

  let parts: [Part]
  /// Whether there are type conditions to decide.
  let hasTypeConditions: Bool
  /// The names under which a response has the type of the object; empty if there are no type conditions.
  let typeLabels: [String]
  let source: PlanSource
  private let variants = Mutex(Variants())

  /// The variants created so far. They are created on demand, because fragments may contain themselves in their fields.
  private struct Variants {
    var last: (choice: SelectionVariant.Choice, variant: SelectionVariant)?
    var all: [SelectionVariant.Choice: SelectionVariant] = [:]
  }

  /// A selection of an object.
  struct Selection {
    let set: Int
    /// The part of the object above that the set belongs to, if the set may arrive later than the others; nil if not.
    let latePart: Int?
  }

  convenience init(_ selections: [Selection], _ source: PlanSource) throws(PlanError) {
    var flattening = Flattening(source: source)
    for selection in selections {
      var place = 0
      if let part = selection.latePart { place = try flattening.add(parent: 0, [], origin: part) }
      try flattening.flatten(selection.set, into: place, path: [])
    }
    var conflicts = FragmentConflicts(source)
    let rivals = try conflicts.rivals(among: flattening.parts)
    for (part, rivals) in rivals.enumerated() { flattening.parts[part].rivals = rivals }
    self.init(flattening.parts, source)
  }

  private init(_ parts: [Part], _ source: PlanSource) {
    self.parts = parts
    self.source = source
    hasTypeConditions = parts.contains { $0.typeCondition != nil }
    typeLabels = hasTypeConditions ? Self.typeLabels(parts) : []
  }

  private static func typeLabels(_ parts: [Part]) -> [String] {
    let fields = parts.lazy.flatMap(\.fields).map(\.field)
    let labels = Set(fields.lazy.filter { $0.name == "__typename" }.map(\.responseKey))
    return labels.subtracting(fields.lazy.filter { $0.name != "__typename" }.map(\.responseKey)).sorted()
  }

  /// The merged fields of the chosen parts.
  func variant(_ choice: SelectionVariant.Choice) throws(PlanError) -> SelectionVariant {
    let known = variants.withLock { variants in
      if let last = variants.last, last.choice == choice { return last.variant as SelectionVariant? }
      return variants.all[choice]
    }
    if let known { return known }
    let variant = try SelectionVariant(choice, parts, source)
    variants.withLock { variants in
      if variants.all.count >= Self.maximumVariants { variants.all.removeAll() }
      variants.all[choice] = variant
      variants.last = (choice, variant)
    }
    return variant
  }

  private struct Flattening {
    let source: PlanSource
    var parts = [Part(parent: nil, guards: [], typeCondition: nil, fact: nil, deferral: nil, origin: nil)]
    private var count = 0

    init(source: PlanSource) { self.source = source }

    mutating func flatten(_ set: Int, into part: Int, path: [Int]) throws(PlanError) {
      // A fragment that contains itself is not valid. Its fields have already been added.
      if path.contains(set) { return }
      for node in source.sets[set] {
        count += 1
        guard count <= SelectionPlan.maximumSelections else { throw .tooComplex }
        switch node {
        case .field(let field):
          let place = field.guards.isEmpty ? part : try add(parent: part, field.guards)
          parts[place].fields.append((count, field))
        case .fragment(let fragment):
          let isSameType = fragment.typeCondition == nil || fragment.typeCondition == parts[part].typeCondition
          let place =
            isSameType && fragment.guards.isEmpty && fragment.deferral == nil
            ? part
            : try add(parent: part, fragment.guards, isSameType ? nil : fragment.typeCondition, deferral: fragment.deferral)
          try flatten(fragment.set, into: place, path: path + [set])
        }
      }
    }

    mutating func add(
      parent: Int, _ guards: [Int], _ type: String? = nil, deferral: Int? = nil, origin: Int? = nil
    ) throws(PlanError) -> Int {
      guard parts.count < SelectionPlan.maximumParts else { throw .tooComplex }
      parts.append(
        Part(
          parent: parent == 0 ? nil : parent, guards: guards, typeCondition: type, fact: type.map { "... on \($0)" },
          deferral: deferral, origin: origin,
          latePart: deferral != nil || origin != nil ? parts.count : parts[parent].latePart))
      return parts.count - 1
    }
  }
}
