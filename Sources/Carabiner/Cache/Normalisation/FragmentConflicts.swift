/// Finds fragments of a selection set that cannot both apply to one object.
///
/// GraphQL allows two fragments to use one response name for different fields only if both are on object types. No object has two
/// types, so one of them does not apply.
struct FragmentConflicts {
  /// A field, and the innermost type condition around it.
  private struct ConditionalField {
    let field: PlanSource.Field
    let condition: String?
  }

  private struct Pair: Hashable {
    let left: Int
    let right: Int
  }

  /// The maximum number of pairs of fields that are compared for a selection set.
  private static var maximumComparisons: Int { 200_000 }

  private let source: PlanSource
  private var comparisons = 0
  /// Whether pairs of selection sets are different. Pairs under comparison count as equal, which ends a recursion of fragments.
  private var compared: [Pair: Bool] = [:]

  init(_ source: PlanSource) { self.source = source }

  /// Returns for each part the parts that it conflicts with, one bit each.
  mutating func rivals(among parts: [SelectionPlan.Part]) throws(PlanError) -> [UInt64] {
    var rivals = [UInt64](repeating: 0, count: parts.count)
    let conditional = parts.indices.map { Self.conditionalPart($0, parts) }
    guard Set(conditional.compactMap(\.self)).count > 1 else { return rivals }
    var byLabel: [String: [(part: Int, field: PlanSource.Field)]] = [:]
    for (number, part) in parts.enumerated() {
      guard let place = conditional[number] else { continue }
      for (_, field) in part.fields { byLabel[field.responseKey, default: []].append((place, field)) }
    }
    for fields in byLabel.values where fields.count > 1 {
      for (position, left) in fields.enumerated() {
        for right in fields[(position + 1)...] {
          guard parts[left.part].typeCondition != parts[right.part].typeCondition,
            rivals[left.part] & 1 << UInt64(right.part) == 0, try areDifferent(left.field, right.field)
          else { continue }
          rivals[left.part] |= 1 << UInt64(right.part)
          rivals[right.part] |= 1 << UInt64(left.part)
        }
      }
    }
    return rivals
  }

  /// The part with the innermost type condition around a part; nil if there is none.
  private static func conditionalPart(_ number: Int, _ parts: [SelectionPlan.Part]) -> Int? {
    var place: Int? = number
    while let number = place {
      if parts[number].typeCondition != nil { return number }
      place = parts[number].parent
    }
    return nil
  }

  /// Whether two fields with one response name are different fields, or contain different fields with one response name.
  private mutating func areDifferent(_ left: PlanSource.Field, _ right: PlanSource.Field) throws(PlanError) -> Bool {
    comparisons += 1
    guard comparisons <= Self.maximumComparisons else { throw .tooComplex }
    guard left.name == right.name, left.arguments.count == right.arguments.count,
      left.arguments.allSatisfy({ right.arguments.contains($0) })
    else { return true }
    guard let leftSet = left.set, let rightSet = right.set, leftSet != rightSet else { return false }
    let pair = Pair(left: leftSet, right: rightSet)
    if let known = compared[pair] { return known }
    compared[pair] = false
    let areDifferent = try areDifferent(leftSet, rightSet)
    compared[pair] = areDifferent
    return areDifferent
  }

  private mutating func areDifferent(_ left: Int, _ right: Int) throws(PlanError) -> Bool {
    var byLabel: [String: [ConditionalField]] = [:]
    for field in fields(of: left) { byLabel[field.field.responseKey, default: []].append(field) }
    for right in fields(of: right) {
      for left in byLabel[right.field.responseKey] ?? [] {
        if let one = left.condition, let other = right.condition, one != other { continue }
        if try areDifferent(left.field, right.field) { return true }
      }
    }
    return false
  }

  private func fields(of set: Int) -> [ConditionalField] {
    var (fields, seen): ([ConditionalField], Set<Int>) = ([], [])
    add(set, nil, to: &fields, &seen)
    return fields
  }

  private func add(_ set: Int, _ condition: String?, to fields: inout [ConditionalField], _ seen: inout Set<Int>) {
    guard seen.insert(set).inserted else { return }
    for node in source.sets[set] {
      switch node {
      case .field(let field): fields.append(ConditionalField(field: field, condition: condition))
      case .fragment(let fragment): add(fragment.set, fragment.typeCondition ?? condition, to: &fields, &seen)
      }
    }
  }
}
