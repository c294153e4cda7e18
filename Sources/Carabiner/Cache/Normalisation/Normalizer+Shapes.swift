internal import CarabinerWire

extension Normalizer {
  /// What an object of a selection set is like.
  mutating func shape(of entry: Int, _ plan: SelectionPlan, _ hint: Shape?) throws(PlanError) -> Shape {
    if plan.parts.count == 1, let hint { return hint }
    let choice = plan.parts.count == 1 ? SelectionVariant.Choice() : choice(entry, plan)
    let variant = try plan.variant(choice)
    if let hint, hint.variant === variant { return hint }
    names.append(variant.names(call))
    return Shape(variant: variant, names: names.count - 1)
  }

  /// Which parts apply to an object: a fragment does if the response has all of its fields.
  ///
  /// That is known if a field is missing, or if one is there that nothing else asked for. Otherwise a fragment whose fields are
  /// all there is assumed to apply, and the record says nothing about it.
  private func choice(_ entry: Int, _ plan: SelectionPlan) -> SelectionVariant.Choice {
    var choice = SelectionVariant.Choice()
    for number in plan.parts.indices.dropFirst() {
      let (part, bit) = (plan.parts[number], 1 << UInt64(number) as UInt64)
      guard choice.applied & 1 << UInt64(part.parent ?? 0) != 0, call.allows(part) else { continue }
      if part.typeCondition == nil {
        choice.applied |= bit
        continue
      }
      if part.fields.contains(where: { !hasMember($0.field.responseKey, entry) }) {
        // What is deferred may only be late.
        if !part.isDeferred { choice.known |= bit }
        continue
      }
      choice.applied |= bit
      let isEvident = part.fields.contains { field in
        !plan.parts.enumerated().contains { other in
          other.offset != number && (other.element.typeCondition != nil || choice.applied & 1 << UInt64(other.offset) != 0)
            && other.element.fields.contains { $0.field.responseKey == field.field.responseKey }
        }
      }
      if isEvident { choice.known |= bit }
    }
    return choice
  }
}
