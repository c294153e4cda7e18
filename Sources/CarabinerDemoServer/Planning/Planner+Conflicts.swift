internal import CarabinerSchema
internal import CarabinerWire

extension Planner {
  /// Records fields with the same response key that differ in name or arguments.
  ///
  /// The check is per object type: fragments that never apply to the same object cannot conflict.
  mutating func checkConflicts(_ selections: [PlannedSelection], of type: String, depth: Int = 1) {
    for objectType in schema.selectedType(named: type).map(schema.possibleTypes) ?? [] {
      for fields in FieldGroups(selections, for: objectType.name, includingDeferred: true).fields {
        guard let first = fields.first, problems.isEmpty, depth <= limits.depth else { return }
        for other in fields.dropFirst()
        where other.definition.name != first.definition.name || other.arguments != first.arguments {
          return complain(
            """
            \(first.responseKey.debugDescription) would be both \(first.definition.name) and \(other.definition.name), \
            or one field with different arguments; give one of them an alias
            """, at: other.place)
        }
        checkConflicts(fields.flatMap(\.selections), of: first.definition.type.name, depth: depth + 1)
      }
    }
  }
}
