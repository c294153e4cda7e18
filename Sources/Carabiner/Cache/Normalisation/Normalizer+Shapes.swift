internal import CarabinerWire

extension Normalizer {
  /// The shape of an object of a selection set.
  mutating func shape(of entry: Int, _ plan: SelectionPlan, _ hint: Shape?) throws(PlanError) -> Shape {
    if plan.parts.count == 1, let hint { return hint }
    let choice = plan.parts.count == 1 ? SelectionVariant.Choice() : choice(entry, plan)
    let variant = try plan.variant(choice)
    if let hint, hint.variant === variant { return hint }
    names.append(variant.names(call))
    return Shape(variant: variant, names: names.count - 1)
  }

  /// The parts that apply to an object.
  ///
  /// The object's type decides, if it is known. Otherwise a fragment applies if the response has all of its fields.
  private func choice(_ entry: Int, _ plan: SelectionPlan) -> SelectionVariant.Choice {
    var choice = SelectionVariant.Choice()
    let type = type(of: entry, plan)
    for number in plan.parts.indices.dropFirst() {
      let part = plan.parts[number]
      guard choice.applied & 1 << UInt64(part.parent ?? 0) != 0, call.allows(part) else { continue }
      if part.typeCondition == nil {
        choice.applied |= 1 << UInt64(number)
      } else if let type, let applies = part.applies(to: type, policy.storeSchema) {
        if applies { choice.applied |= 1 << UInt64(number) }
      } else {
        addByEvidence(number, of: plan, entry, to: &choice)
      }
    }
    return choice
  }

  /// The type of an object; nil if the response does not have it, or if it makes no difference.
  private func type(of entry: Int, _ plan: SelectionPlan) -> String? {
    for label in plan.typeLabels {
      guard let value = member(label, of: entry), case .string = tape[value].kind else { continue }
      return JSONTape.string(tape[value], in: buffer.span)
    }
    return nil
  }

  /// Decides whether a fragment applies by the fields of the response.
  ///
  /// The decision is certain if a field is missing, or if there is a field that only this fragment selects. A fragment with all
  /// fields present is otherwise assumed to apply, and the record does not store that.
  private func addByEvidence(_ number: Int, of plan: SelectionPlan, _ entry: Int, to choice: inout SelectionVariant.Choice) {
    let (part, bit) = (plan.parts[number], 1 << UInt64(number) as UInt64)
    let isShown = !isTyped || hasSomeValue(of: part, entry)
    guard isShown, isPartial ? hasSomeField(of: part, entry) : hasFields(of: part, of: plan, entry) else {
      // A deferred fragment may arrive later.
      if part.latePart == nil, !isPartial { choice.known |= bit }
      return
    }
    // The response has the fields of two fragments that exclude each other. Neither can be chosen.
    for rival in plan.parts.indices where part.rivals & 1 << UInt64(rival) != 0 {
      if !isTyped || hasSomeValue(of: plan.parts[rival], entry), hasFields(of: plan.parts[rival], of: plan, entry) { return }
    }
    choice.applied |= bit
    if isPartial { return }
    let isEvident = part.fields.contains { field in
      !plan.parts.enumerated().contains { other in
        other.offset != number && (other.element.typeCondition != nil || choice.applied & 1 << UInt64(other.offset) != 0)
          && other.element.fields.contains { $0.field.responseKey == field.field.responseKey }
      }
    }
    if isEvident { choice.known |= bit }
  }

  // MARK: Fields

  private func hasSomeField(of part: SelectionPlan.Part, _ entry: Int) -> Bool {
    part.fields.isEmpty || part.fields.contains { member($0.field.responseKey, of: entry) != nil }
  }

  private func hasSomeValue(of part: SelectionPlan.Part, _ entry: Int) -> Bool {
    part.fields.isEmpty
      || part.fields.contains { field in
        guard let value = member(field.field.responseKey, of: entry) else { return false }
        if case .null = tape[value].kind { return false }
        return true
      }
  }

  private func hasFields(of part: SelectionPlan.Part, of plan: SelectionPlan, _ entry: Int) -> Bool {
    for (_, field) in part.fields where !has(field, of: plan, entry) { return false }
    return true
  }

  private func has(_ field: PlanSource.Field, of plan: SelectionPlan, _ entry: Int) -> Bool {
    guard let value = member(field.responseKey, of: entry) else { return false }
    return field.set.map { hasFields(of: $0, of: plan, value) } ?? true
  }

  /// Whether the objects of a value have all fields of a selection set; those of fragments with a type condition do not count.
  private func hasFields(of set: Int, of plan: SelectionPlan, _ value: Int) -> Bool {
    switch tape[value].kind {
    case .null, .scalar, .string, .escapedString: return true
    case .array:
      let end = Int(tape[value].next)
      var element = value + 1
      while element < end {
        guard hasFields(of: set, of: plan, element) else { return false }
        element = Int(tape[element].next)
      }
      return true
    case .object:
      for node in plan.source.sets[set] {
        switch node {
        case .field(let field): if call.allows(field.guards), !has(field, of: plan, value) { return false }
        case .fragment(let fragment):
          guard fragment.typeCondition == nil, fragment.deferral == nil, call.allows(fragment.guards) else { continue }
          guard hasFields(of: fragment.set, of: plan, value) else { return false }
        }
      }
      return true
    }
  }
}
