internal import CarabinerWire

/// Normalises a response into records.
///
/// The records share one buffer: the text of the response, followed by the references between the records. The type is not
/// copyable, because a copy would increment ten reference counts, and the compiler would copy it for many calls.
struct Normalizer: ~Copyable {
  /// The path of an object that has no key of its own.
  private struct Place {
    let base: String
    let field: String?

    func text(_ index: Int?) -> String { base + (field.map { "." + $0 } ?? "") + (index.map { "." + String($0) } ?? "") }
  }

  /// The shape of the last object of a list, which the next one usually has too.
  struct Shape {
    let variant: SelectionVariant
    /// The number of the names of its fields.
    let names: Int
  }

  let tape: [JSONTape.Entry]
  /// The place of the object that is normalised.
  let root: Int
  let call: PlanCall
  let policy: CacheKeyPolicy
  let idKeys: Bool
  /// Whether missing fields have no meaning, because the text is not from a server.
  let isPartial: Bool
  /// Whether a null may also be a field that the object does not have.
  let isTyped: Bool
  /// The text, followed by the values of records that are not in the text.
  private(set) var buffer: [UInt8]
  private let constants: Int
  var slots: [FieldTable.Slot] = []
  var names: [FieldNames] = []
  var keys: [UInt8] = []
  var records: [RecordBatch.Entry] = []
  /// For each field of the current objects, the place of its value on the tape; -1 if it is missing.
  var values: [Int] = []
  var keyText: [UInt8] = []
  /// The values for the function that gives keys, once it was called.
  var tree: ResponseTree?

  /// The records of an object.
  ///
  /// - Parameters:
  ///   - text: The text that contains the object.
  ///   - tape: The places of all values of the text.
  ///   - root: The place of the object.
  ///   - rootKey: The key of the object's record; nil for that of the operation's root.
  ///   - isPartial: Whether fields may be missing that the object has.
  ///   - isTyped: Whether fields may be null that the object does not have.
  /// - Throws: `PlanError.mismatch` if the object has another shape than the plan.
  static func records(
    of text: Span<UInt8>, _ tape: JSONTape, root: Int, _ plan: OperationPlan, _ call: PlanCall,
    policy: CacheKeyPolicy, received: Int64, rootKey: String? = nil, isPartial: Bool = false, isTyped: Bool = false
  ) throws(PlanError) -> RecordBatch {
    var normalizer = Normalizer(
      text: text, tape: tape.entries, root: root, call: call, policy: policy, isPartial: isPartial, isTyped: isTyped)
    var shape: Shape?
    let rootKey = rootKey ?? plan.rootKey
    _ = try normalizer.object(root, plan.root, Place(base: rootKey, field: nil), nil, rootKey: rootKey, &shape)
    return RecordBatch(
      buffer: normalizer.buffer, keys: normalizer.keys, slots: normalizer.slots, names: normalizer.names,
      entries: normalizer.records, received: received)
  }

  private init(
    text: Span<UInt8>, tape: [JSONTape.Entry], root: Int, call: PlanCall, policy: CacheKeyPolicy, isPartial: Bool, isTyped: Bool
  ) {
    self.tape = tape
    self.root = root
    self.isPartial = isPartial
    self.isTyped = isTyped
    self.call = call
    self.policy = policy
    idKeys = policy.keyFields.isEmpty && policy.defaultKeyFields == ["id"]
    buffer = []
    buffer.reserveCapacity(text.count + text.count / 2 + 128)
    buffer.append(addingCapacity: text.count + Self.constants.count) { buffer in
      buffer.append(text)
      buffer.append(Self.constants.span)
    }
    constants = text.count
    records.reserveCapacity(tape.count / 10 + 2)
    keys.reserveCapacity((tape.count / 10 + 2) * 16)
    slots.reserveCapacity(tape.count / 2)
    values.reserveCapacity(64)
    names.reserveCapacity(8)
  }

  /// The values of facts about type conditions.
  private static let constants = Array("falsetrue".utf8)

  // MARK: Objects

  /// Creates the record of an object and returns its index.
  private mutating func object(
    _ entry: Int, _ plan: SelectionPlan, _ place: borrowing Place, _ index: Int?, rootKey: String? = nil,
    _ hint: inout Shape?
  ) throws(PlanError) -> Int {
    let shape = try shape(of: entry, plan, hint)
    hint = shape
    let (variant, base, firstSlot) = (shape.variant, values.count, slots.count)
    let isAsked = locate(variant, entry)
    defer { values.removeSubrange(base...) }
    let key = rootKey ?? key(variant, base) ?? keyByFunction(entry) ?? place.text(index)
    let number = records.count
    // The index is assigned before those of the parts, so that the root is first.
    records.append(
      RecordBatch.Entry(
        key: append(key), names: shape.names, slots: firstSlot..<slots.count,
        objectText: isAsked && variant.isFlat ? Int(tape[entry].start)..<Int(tape[entry].end) : nil))
    if variant.isFlat {
      if !isAsked { leaveOutMissing(variant, base, number) }
      return number
    }
    for position in variant.fields.indices {
      guard let selection = variant.fields[position].selection else { continue }
      let value = values[base + position]
      guard value >= 0 else { continue }
      switch tape[value].kind {
      case .null: break
      case .object:
        var childHint: Shape?
        let child = try object(value, selection, Place(base: key, field: names[shape.names].list[position]), nil, &childHint)
        let start = buffer.count
        Self.appendReference(recordKey(child), to: &buffer)
        slots[firstSlot + position] = slot(start, buffer.count)
      case .array:
        var (list, childHint): ([UInt8], Shape?) = ([], nil)
        list.reserveCapacity((Int(tape[value].next) - value) * 4)
        try appendList(value, selection, Place(base: key, field: names[shape.names].list[position]), to: &list, &childHint)
        let start = buffer.count
        buffer += list
        slots[firstSlot + position] = slot(start, buffer.count)
      case .scalar, .string, .escapedString: throw PlanError.mismatch
      }
      guard buffer.count < Int(Int32.max) else { throw PlanError.tooComplex }
    }
    for (offset, fact) in variant.facts.enumerated() {
      let start = constants + (fact.value ? 5 : 0)
      slots[firstSlot + variant.fields.count + offset] = slot(start, start + (fact.value ? 4 : 5))
    }
    leaveOutMissing(variant, base, number)
    return number
  }

  private func slot(_ start: Int, _ end: Int) -> FieldTable.Slot {
    FieldTable.Slot(start: Int32(start), length: Int32(end - start))
  }

  /// Removes the fields from a record that its object lacks.
  private mutating func leaveOutMissing(_ variant: SelectionVariant, _ base: Int, _ number: Int) {
    guard values[base...].contains(-1) else { return }
    let (all, first) = (names[records[number].names].list, records[number].slots.lowerBound)
    let present = all.indices.filter { $0 >= variant.fields.count || values[base + $0] >= 0 }
    for (place, position) in present.enumerated() { slots[first + place] = slots[first + position] }
    records[number].names = names.count
    names.append(FieldNames(present.map { all[$0] }))
    records[number].slots = first..<first + present.count
  }

  private mutating func appendList(
    _ entry: Int, _ selection: SelectionPlan, _ place: borrowing Place, to list: inout [UInt8], _ hint: inout Shape?
  ) throws(PlanError) {
    list.append(UInt8(ascii: "["))
    let end = Int(tape[entry].next)
    var (next, index) = (entry + 1, 0)
    while next < end {
      // Most lists have objects of one shape, after the first.
      if selection.parts.count == 1, let shape = hint {
        appendPlainObjects(&next, &index, to: end, shape, &list)
        if next >= end { break }
      }
      if index > 0 { list.append(UInt8(ascii: ",")) }
      switch tape[next].kind {
      case .null: list.append(contentsOf: "null".utf8)
      case .object: Self.appendReference(recordKey(try object(next, selection, place, index, &hint)), to: &list)
      case .array: try appendList(next, selection, Place(base: place.text(index), field: nil), to: &list, &hint)
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

  /// Records the places of the values of an object. They are usually in the order of the selection.
  ///
  /// - Returns: Whether the text of the object is the same as the store would write: all fields, in order, and nothing else.
  private mutating func locate(_ variant: SelectionVariant, _ entry: Int) -> Bool {
    let (base, firstSlot, count) = (values.count, slots.count, variant.labels.count)
    values.append(contentsOf: repeatElement(-1, count: count))
    slots.append(contentsOf: repeatElement(FieldTable.Slot(start: 0, length: 0), count: count + variant.facts.count))
    let end = Int(tape[entry].next)
    var (member, expected, length) = (entry + 1, 0, 0)
    (member, expected, length) = Self.locateInOrder(
      variant, tape, member..<end, in: buffer, values: &values, base, slots: &slots, firstSlot)
    if member >= end {
      // Braces, labels, values and commas. If the text is longer, it has white space.
      return expected == count
        && Int(tape[entry].end - tape[entry].start) == 2 + variant.labelBytes + length + max(count - 1, 0)
    }
    while member < end {
      let value = tape[member + 1]
      if expected < count, isName(variant.fields[expected].responseKey, member) {
        note(value, at: member + 1, base + expected, firstSlot + expected)
        expected += 1
      } else if let found = variant.fields.firstIndex(where: { isName($0.responseKey, member) }) {
        note(value, at: member + 1, base + found, firstSlot + found)
        expected = found + 1
      }
      member = Int(value.next)
    }
    return false
  }

  /// Records the places of the values as long as the members are in the order of the selection.
  ///
  /// - Returns: The first member out of order, the field that was expected there, and the total length of the values.
  private static func locateInOrder(
    _ variant: SelectionVariant, _ tape: [JSONTape.Entry], _ members: Range<Int>, in text: [UInt8],
    values: inout [Int], _ base: Int, slots: inout [FieldTable.Slot], _ firstSlot: Int
  ) -> (member: Int, expected: Int, length: Int) {
    let labels = variant.labels
    var (member, expected, length) = (members.lowerBound, 0, 0)
    // An array would check for a unique reference at each write.
    var places = values.mutableSpan
    var slots = slots.mutableSpan
    while member < members.upperBound, expected < labels.count, Self.isLabel(labels[expected], tape[member], in: text.span) {
      let value = tape[member + 1].range
      places[base + expected] = member + 1
      slots[firstSlot + expected] = FieldTable.Slot(start: Int32(value.lowerBound), length: Int32(value.count))
      length += value.count
      expected += 1
      member = Int(tape[member + 1].next)
    }
    return (member, expected, length)
  }

  private mutating func note(_ value: JSONTape.Entry, at entry: Int, _ place: Int, _ slot: Int) {
    values[place] = entry
    slots[slot] = self.slot(value.range.lowerBound, value.range.upperBound)
  }

  /// Whether a member's name is that of a label. The text is followed by constants, so eight bytes can always be read.
  @inline(always)
  static func isLabel(_ label: borrowing SelectionVariant.Label, _ name: JSONTape.Entry, in text: Span<UInt8>) -> Bool {
    guard case .string = name.kind, Int(name.end - name.start) == label.count,
      text.word(at: Int(name.start)) & label.mask == label.head
    else { return false }
    guard label.count > 8 else { return true }
    if label.count <= 16 { return text.word(at: Int(name.end) - 8) == label.tail }
    let rest = text.extracting(Int(name.start) + 8..<Int(name.end))
    for offset in rest.indices where rest[offset] != label.rest[offset] { return false }
    return true
  }

  private func isName(_ name: String, _ member: Int) -> Bool {
    let entry = tape[member]
    guard case .string = entry.kind else { return JSONTape.string(entry, in: buffer.span) == name }
    let (bytes, start) = (name.utf8Span.span, Int(entry.start))
    guard bytes.count == Int(entry.end) - start else { return false }
    let written = buffer.span.extracting(start..<Int(entry.end))
    for offset in bytes.indices where bytes[offset] != written[offset] { return false }
    return true
  }

  /// The place of the value of a member; nil if there is no such member.
  func member(_ name: String, of entry: Int) -> Int? {
    let end = Int(tape[entry].next)
    var member = entry + 1
    while member < end {
      if isName(name, member) { return member + 1 }
      member = Int(tape[member + 1].next)
    }
    return nil
  }
}
