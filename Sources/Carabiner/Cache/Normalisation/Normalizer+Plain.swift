internal import CarabinerWire

/// A fast path for objects of lists whose values need not be examined one by one. Most objects of a response are of this kind.
extension Normalizer {
  /// Creates the records of objects and appends references to them, up to the first object that is not plain.
  ///
  /// A plain object has the selected scalars, in their order and without white space, and its type and its `id` have no escapes.
  ///
  /// - Parameters:
  ///   - next: The place of the next object of the list.
  ///   - index: Its number in the list.
  ///   - end: The place after the list.
  mutating func appendPlainObjects(
    _ next: inout Int, _ index: inout Int, to end: Int, _ shape: Shape, _ list: inout [UInt8]
  ) {
    let variant = shape.variant
    guard idKeys, variant.isFlat, let typeField = variant.typeField, let idField = variant.idField else { return }
    let fields = (variant: variant, type: typeField, id: idField, names: shape.names)
    Self.appendPlainObjects(
      &next, &index, to: end, fields, tape, buffer, slots: &slots, keys: &keys, records: &records, list: &list)
  }

  /// The loop, with the arrays as parameters: as properties, their references would be counted for each object.
  private static func appendPlainObjects(
    _ next: inout Int, _ index: inout Int, to end: Int,
    _ fields: (variant: SelectionVariant, type: Int, id: Int, names: Int), _ tape: [JSONTape.Entry], _ text: [UInt8],
    slots: inout [FieldTable.Slot], keys: inout [UInt8], records: inout [RecordBatch.Entry], list: inout [UInt8]
  ) {
    let (labels, labelBytes, opening) = (fields.variant.labels, fields.variant.labelBytes, Reference.opening)
    while next < end {
      let (object, firstSlot) = (tape[next], slots.count)
      guard
        let (type, id) = locatePlain(labels, labelBytes, fields.type, fields.id, tape, next, in: text, slots: &slots)
      else { return }
      let key = appendKey(type, id, in: text, to: &keys)
      records.append(
        RecordBatch.Entry(
          key: key, names: fields.names, slots: firstSlot..<slots.count, objectText: Int(object.start)..<Int(object.end)))
      appendPlainReference(key, in: keys, opening, isFirst: index == 0, to: &list)
      index += 1
      next = Int(object.next)
    }
  }

  /// Appends a reference to a key without bytes that need an escape, after a comma if it is not the first.
  private static func appendPlainReference(
    _ key: Range<Int>, in keys: [UInt8], _ opening: [UInt8], isFirst: Bool, to list: inout [UInt8]
  ) {
    list.append(addingCapacity: opening.count + key.count + 4) { list in
      if !isFirst { list.append(UInt8(ascii: ",")) }
      list.append(opening.span)
      list.append(UInt8(ascii: "\""))
      list.append(keys.span.extracting(key))
      list.append(UInt8(ascii: "\""))
      list.append(UInt8(ascii: "}"))
    }
  }

  /// Appends the places of the values of an object.
  ///
  /// - Returns: The text of its type and of its id; nil if the object is not plain.
  private static func locatePlain(
    _ labels: [SelectionVariant.Label], _ labelBytes: Int, _ typeField: Int, _ idField: Int, _ tape: [JSONTape.Entry],
    _ entry: Int, in text: [UInt8], slots: inout [FieldTable.Slot]
  ) -> (type: Range<Int>, id: Range<Int>)? {
    guard case .object = tape[entry].kind else { return nil }
    let (object, count) = (tape[entry], labels.count)
    let end = Int(object.next)
    var (member, length, type, id, isPlain) = (entry &+ 1, 0, 0, 0, true)
    slots.append(addingCapacity: count) { slots in
      let (tape, labels, text) = (tape.span, labels.span, text.span)
      for position in labels.indices {
        guard member < end, isLabel(labels[position], tape[member], in: text) else {
          isPlain = false
          break
        }
        member &+= 1
        if position == typeField { type = member }
        if position == idField { id = member }
        let (value, quote) = (tape[member], tape[member].isText ? 1 as Int32 : 0)
        let slot = FieldTable.Slot(start: value.start &- quote, length: value.end &- value.start &+ 2 &* quote)
        slots.append(slot)
        length &+= Int(slot.length)
        member = Int(value.next)
      }
      // Braces, labels, values and commas. If the text is longer, it has white space.
      if member != end || Int(object.end - object.start) != 2 &+ labelBytes &+ length &+ max(count &- 1, 0) {
        isPlain = false
      }
      if isPlain { isPlain = tape[type].isPlainText && (tape[id].isPlainText || tape[id].isScalar) }
      if !isPlain { slots.removeAll() }
    }
    guard isPlain else { return nil }
    return (Int(tape[type].start)..<Int(tape[type].end), Int(tape[id].start)..<Int(tape[id].end))
  }

  private static func appendKey(
    _ type: Range<Int>, _ id: Range<Int>, in text: [UInt8], to keys: inout [UInt8]
  ) -> Range<Int> {
    let start = keys.count
    keys.append(addingCapacity: type.count + 1 + id.count) { keys in
      keys.append(text.span.extracting(type))
      keys.append(UInt8(ascii: ":"))
      keys.append(text.span.extracting(id))
    }
    return start..<keys.count
  }

  /// Appends a key and returns its range.
  mutating func append(_ key: String) -> Range<Int> {
    let start = keys.count
    keys.append(contentsOf: key.utf8)
    return start..<keys.count
  }

  /// The key of a record.
  func recordKey(_ number: Int) -> String { String(decoding: keys[records[number].key], as: UTF8.self) }
}

extension JSONTape.Entry {
  /// Whether the entry is a string without escapes.
  fileprivate var isPlainText: Bool { if case .string = kind { true } else { false } }

  /// Whether the entry is a string.
  fileprivate var isText: Bool {
    switch kind {
    case .string, .escapedString: true
    case .null, .scalar, .object, .array: false
    }
  }

  /// Whether the entry is a number or a Boolean.
  fileprivate var isScalar: Bool { if case .scalar = kind { true } else { false } }
}

extension OutputSpan<UInt8> {
  /// Appends bytes, for which there must be room.
  @inline(__always) mutating func append(_ bytes: Span<UInt8>) {
    precondition(bytes.count <= freeCapacity, "there is no room for the bytes")
    unsafe withUnsafeMutableBufferPointer { room, count in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        _ = unsafe UnsafeMutableBufferPointer(rebasing: room[count...]).initialize(fromContentsOf: bytes)
      }
      count += bytes.count
    }
  }
}
