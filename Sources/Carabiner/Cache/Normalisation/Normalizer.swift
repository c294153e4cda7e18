internal import CarabinerWire

/// Takes a response apart into records.
///
/// The records share one buffer: the text of the response, and behind it the references the records hold. It cannot be copied,
/// as a copy counts ten references and the compiler would make one for many a call.
struct Normalizer: ~Copyable {
  /// Where an object is if it has no key of its own.
  private struct Place {
    let base: String
    var field: String?
    var index: Int?

    var text: String {
      base + (field.map { "." + $0 } ?? "") + (index.map { "." + String($0) } ?? "")
    }
  }

  /// What the last object of a list was like, as the next one mostly is.
  private struct Shape {
    let variant: SelectionVariant
    let names: [String]
  }

  private struct PendingRecord {
    let key: String
    var names: [String]
    var slots: [FieldTable.Slot]
  }

  private let text: [UInt8]
  private let tape: [JSONTape.Entry]
  private let call: PlanCall
  private let policy: CacheKeyPolicy
  private let received: Int64
  private let idKeys: Bool
  private var buffer: [UInt8]
  private var records: [PendingRecord] = []
  /// For each field of the objects being read where its value is; -1 if it is missing.
  private var values: [Int] = []
  private var keyText: [UInt8] = []

  /// The records of a response's data.
  ///
  /// - Throws: `PlanError.mismatch` if the data has another shape than the plan.
  static func records(
    of data: [UInt8], _ plan: OperationPlan, _ call: PlanCall, policy: CacheKeyPolicy, received: Int64
  ) throws -> [Record] {
    let tape = try JSONTape(scanning: data.span, limits: JSONLimits(maximumDepth: JSONLimits.highestMaximumDepth))
    var normalizer = Normalizer(text: data, tape: tape.entries, call: call, policy: policy, received: received)
    guard tape.entries.first?.kind == .object else { throw PlanError.mismatch }
    var shape: Shape?
    _ = try normalizer.object(0, plan.root, Place(base: plan.rootKey), rootKey: plan.rootKey, &shape)
    let buffer = normalizer.buffer
    return normalizer.records.map {
      Record(key: $0.key, table: FieldTable(names: $0.names, slots: $0.slots, buffer: buffer))
    }
  }

  private init(text: [UInt8], tape: [JSONTape.Entry], call: PlanCall, policy: CacheKeyPolicy, received: Int64) {
    self.text = text
    self.tape = tape
    self.call = call
    self.policy = policy
    self.received = received
    idKeys = policy.keyFields.isEmpty && policy.defaultKeyFields == ["id"]
    buffer = []
    buffer.reserveCapacity(text.count + text.count / 2 + 128)
    buffer += text
    buffer += Self.constants
    records.reserveCapacity(16)
    values.reserveCapacity(64)
  }

  /// What records say about type conditions.
  private static let constants = Array("falsetrue".utf8)

  // MARK: Objects

  /// Makes the record of an object; gives its key.
  private mutating func object(
    _ entry: Int, _ plan: SelectionPlan, _ place: Place, rootKey: String? = nil, _ hint: inout Shape?
  ) throws -> String {
    let shape = try shape(of: entry, plan, hint)
    hint = shape
    let (variant, base) = (shape.variant, values.count)
    locate(variant.fields, of: entry)
    defer { values.removeSubrange(base...) }
    let key = rootKey ?? key(variant, base) ?? place.text
    var slots: [FieldTable.Slot] = []
    slots.reserveCapacity(shape.names.count)
    var missing = 0
    // The place is taken before those of the parts, so that the root comes first.
    let number = records.count
    records.append(PendingRecord(key: key, names: [], slots: []))
    for position in variant.fields.indices {
      let value = values[base + position]
      guard value >= 0 else {
        missing += 1
        continue
      }
      let name = shape.names[position]
      if let selection = variant.fields[position].selection {
        switch tape[value].kind {
        case .null: slots.append(slot(tape[value].start, tape[value].end))
        case .object:
          var childHint: Shape?
          let child = try object(value, selection, Place(base: key, field: name), &childHint)
          let start = buffer.count
          Self.appendReference(child, to: &buffer)
          slots.append(slot(Int32(start), Int32(buffer.count)))
        case .array:
          var (list, childHint): ([UInt8], Shape?) = ([], nil)
          try appendList(value, selection, Place(base: key, field: name), to: &list, &childHint)
          let start = buffer.count
          buffer += list
          slots.append(slot(Int32(start), Int32(buffer.count)))
        case .scalar, .string, .escapedString: throw PlanError.mismatch
        }
        guard buffer.count < Int(Int32.max) else { throw PlanError.tooComplex }
      } else {
        let isString = tape[value].kind == .string || tape[value].kind == .escapedString
        slots.append(isString ? slot(tape[value].start - 1, tape[value].end + 1) : slot(tape[value].start, tape[value].end))
      }
    }
    let constants = Int32(text.count)
    for fact in variant.facts { slots.append(fact.value ? slot(constants + 5, constants + 9) : slot(constants, constants + 5)) }
    records[number].slots = slots
    records[number].names = missing == 0 ? shape.names : present(shape.names, variant, base)
    return key
  }

  private func slot(_ start: Int32, _ end: Int32) -> FieldTable.Slot {
    FieldTable.Slot(start: start, length: end - start, received: received)
  }

  private func present(_ names: [String], _ variant: SelectionVariant, _ base: Int) -> [String] {
    names.indices.filter { $0 >= variant.fields.count || values[base + $0] >= 0 }.map { names[$0] }
  }

  private mutating func appendList(
    _ entry: Int, _ selection: SelectionPlan, _ place: Place, to list: inout [UInt8], _ hint: inout Shape?
  ) throws {
    let (end, base) = (Int(tape[entry].next), place.index == nil ? place : Place(base: place.text))
    list.append(UInt8(ascii: "["))
    var (next, index) = (entry + 1, 0)
    while next < end {
      if index > 0 { list.append(UInt8(ascii: ",")) }
      let here = Place(base: base.base, field: base.field, index: index)
      switch tape[next].kind {
      case .null: list.append(contentsOf: "null".utf8)
      case .object: Self.appendReference(try object(next, selection, here, &hint), to: &list)
      case .array: try appendList(next, selection, here, to: &list, &hint)
      case .scalar, .string, .escapedString: throw PlanError.mismatch
      }
      index += 1
      next = Int(tape[next].next)
    }
    list.append(UInt8(ascii: "]"))
  }

  static func appendReference(_ key: String, to text: inout [UInt8]) {
    text.append(contentsOf: Reference.opening)
    JSONWriter.appendString(key, to: &text)
    text.append(UInt8(ascii: "}"))
  }

  // MARK: Fields

  /// Notes where the values of an object's fields are; they mostly come in the order they were asked for.
  private mutating func locate(_ fields: [SelectionVariant.Field], of entry: Int) {
    let base = values.count
    for _ in fields.indices { values.append(-1) }
    let end = Int(tape[entry].next)
    var (member, expected) = (entry + 1, 0)
    while member < end {
      if expected < fields.count, isName(fields[expected].responseKey, member) {
        values[base + expected] = member + 1
        expected += 1
      } else if let found = fields.firstIndex(where: { isName($0.responseKey, member) }) {
        values[base + found] = member + 1
        expected = found + 1
      }
      member = Int(tape[member + 1].next)
    }
  }

  private func isName(_ name: String, _ member: Int) -> Bool {
    let entry = tape[member]
    guard entry.kind == .string else { return JSONTape.string(entry, in: text.span) == name }
    let (bytes, start) = (name.utf8Span.span, Int(entry.start))
    guard bytes.count == Int(entry.end) - start else { return false }
    let written = text.span.extracting(start..<Int(entry.end))
    for offset in bytes.indices where bytes[offset] != written[offset] { return false }
    return true
  }

  private func hasMember(_ name: String, _ entry: Int) -> Bool {
    let end = Int(tape[entry].next)
    var member = entry + 1
    while member < end {
      if isName(name, member) { return true }
      member = Int(tape[member + 1].next)
    }
    return false
  }

  // MARK: Keys

  /// The key an object's fields give it; nil if they do not.
  private mutating func key(_ variant: SelectionVariant, _ base: Int) -> String? {
    guard let typeField = variant.typeField, values[base + typeField] >= 0, tape[values[base + typeField]].kind == .string
    else { return nil }
    let type = tape[values[base + typeField]]
    var key: [UInt8] = []
    swap(&key, &keyText)
    defer { swap(&key, &keyText) }
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: text[Int(type.start)..<Int(type.end)])
    key.append(UInt8(ascii: ":"))
    if idKeys {
      guard let idField = variant.idField, appendKeyPart(values[base + idField], isOnlyOne: true, to: &key) else { return nil }
    } else {
      let names = policy.keyFields(of: JSONTape.string(type, in: text.span))
      guard !names.isEmpty else { return nil }
      for (number, name) in names.enumerated() {
        if number > 0 { key.append(UInt8(ascii: "+")) }
        guard let field = variant.fields.firstIndex(where: { $0.name == name && $0.arguments.isEmpty }),
          appendKeyPart(values[base + field], isOnlyOne: names.count == 1, to: &key)
        else { return nil }
      }
    }
    return String(decoding: key, as: UTF8.self)
  }

  private func appendKeyPart(_ value: Int, isOnlyOne: Bool, to key: inout [UInt8]) -> Bool {
    guard value >= 0 else { return false }
    let entry = tape[value]
    switch entry.kind {
    case .scalar, .string:
      CacheKeyPolicy.appendKeyPart(
        text.span.extracting(Int(entry.start)..<Int(entry.end)), isOnlyOne: isOnlyOne, to: &key)
    case .escapedString:
      let string = JSONTape.string(entry, in: text.span)
      CacheKeyPolicy.appendKeyPart(string.utf8Span.span, isOnlyOne: isOnlyOne, to: &key)
    case .null, .object, .array: return false
    }
    return true
  }

  // MARK: Type conditions

  private func shape(of entry: Int, _ plan: SelectionPlan, _ hint: Shape?) throws(PlanError) -> Shape {
    if plan.parts.count == 1, let hint { return hint }
    let choice = plan.parts.count == 1 ? SelectionVariant.Choice() : choice(entry, plan)
    let variant = try plan.variant(choice)
    if let hint, hint.variant === variant { return hint }
    return Shape(variant: variant, names: variant.names(call))
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
