/// The fields of a record: names, and raw JSON in one buffer.
package struct FieldTable: Sendable {
  /// The place of a value in its buffer.
  struct Slot: Sendable {
    var start: Int32
    var length: Int32

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
  }

  private struct Contents: Sendable {
    var names = FieldNames()
    var slots: [Slot] = []
    var buffer: [UInt8] = []
    /// The time of receipt of the values in milliseconds since 1970.
    var received: Int64 = 0
    /// The time of receipt of each field; empty while all are equal.
    var times: [Int64] = []
    /// The number of bytes of the buffer that belong to no value.
    var garbage = 0
    /// Whether the buffer is the text of the object, so that it can be written unchanged.
    var isObjectText = false

    func isSame(_ position: Int, _ value: Span<UInt8>) -> Bool {
      FieldTable.areSame(buffer.span.extracting(slots[position].range), value)
    }

    func isObjectText(_ text: Span<UInt8>) -> Bool { isObjectText && FieldTable.areSame(buffer.span, text) }

    mutating func setReceived(_ time: Int64, at position: Int) {
      if times.isEmpty {
        if time == received { return }
        times = Array(repeating: received, count: slots.count)
      }
      times[position] = time
    }

    mutating func append(_ name: String, _ value: ArraySlice<UInt8>, _ time: Int64) {
      names.append(name)
      slots.append(Slot(start: Int32(buffer.count), length: Int32(value.count)))
      buffer.append(contentsOf: value)
      isObjectText = false
      if slots.count == 1 { received = time }
      if !times.isEmpty { times.append(time) } else { setReceived(time, at: slots.count - 1) }
    }

    mutating func replace(_ position: Int, _ value: ArraySlice<UInt8>) {
      let range = slots[position].range
      if value.count <= range.count {
        buffer.replaceSubrange(range.lowerBound..<range.lowerBound + value.count, with: value)
        garbage += range.count - value.count
      } else {
        garbage += range.count
        slots[position].start = Int32(buffer.count)
        buffer.append(contentsOf: value)
      }
      slots[position].length = Int32(value.count)
      isObjectText = false
      if garbage > 256, garbage > buffer.count / 2 { compact() }
    }

    mutating func remove(at position: Int) {
      names.remove(at: position)
      garbage += Int(slots.remove(at: position).length)
      if !times.isEmpty { times.remove(at: position) }
      isObjectText = false
    }

    mutating func keep(_ positions: [Int]) {
      names = names.subset(positions)
      slots = positions.map { slots[$0] }
      if !times.isEmpty { times = positions.map { times[$0] } }
      isObjectText = false
      compact()
    }

    /// Removes the bytes of the buffer that belong to no value.
    private mutating func compact() {
      var compacted: [UInt8] = []
      compacted.reserveCapacity(buffer.count - garbage)
      for position in slots.indices {
        let range = slots[position].range
        slots[position].start = Int32(compacted.count)
        compacted += buffer[range]
      }
      buffer = compacted
      garbage = 0
    }
  }

  /// An array with exactly one element. Records are passed on often and changed rarely: an array is one reference, is copied on
  /// write when it is shared, and needs no exclusivity checks, unlike a class.
  private var box: [Contents]

  /// Creates an empty table.
  package init() { box = [Contents()] }

  /// Creates the fields of a record of a response.
  init(_ batch: RecordBatch, _ entry: RecordBatch.Entry) {
    var contents = Contents(names: batch.names[entry.names], slots: Array(batch.slots[entry.slots]), received: batch.received)
    let length = contents.slots.reduce(0) { $0 + Int($1.length) }
    if let text = entry.objectText {
      for position in contents.slots.indices { contents.slots[position].start -= Int32(text.lowerBound) }
      contents.buffer = Array(batch.buffer[text])
      contents.garbage = text.count - length
      contents.isObjectText = true
    } else {
      contents.buffer.reserveCapacity(length)
      for position in contents.slots.indices {
        let range = contents.slots[position].range
        contents.slots[position].start = Int32(contents.buffer.count)
        contents.buffer += batch.buffer[range]
      }
    }
    box = [contents]
  }

  /// The range of a field's raw JSON in a buffer, and the time of receipt.
  package typealias Place = (value: Range<Int>, received: Int64)

  /// Creates a table with values in a buffer, for caches that store each field in a row.
  package init(names: [String], places: [Place], buffer: [UInt8]) {
    var contents = Contents(
      names: FieldNames(names),
      slots: places.map { Slot(start: Int32($0.value.lowerBound), length: Int32($0.value.count)) },
      buffer: buffer, received: places.first?.received ?? 0)
    if places.contains(where: { $0.received != contents.received }) { contents.times = places.map(\.received) }
    box = [contents]
  }

  // MARK: Reading

  /// The names of the fields, in order.
  package var names: [String] { box[0].names.list }

  /// The number of fields.
  package var count: Int { box[0].slots.count }

  /// The memory size in bytes, approximately. Names that are shared with other records are not counted.
  var cost: Int { box[0].buffer.count + box[0].slots.count * 24 + box[0].times.count * 8 + box[0].names.ownBytes }

  /// The bytes for ``range(at:)``.
  var buffer: [UInt8] { box[0].buffer }

  /// The position of a field.
  ///
  /// - Parameter hint: Its position if this table was made for the selection set of the caller.
  func position(of name: String, hint: Int = 0) -> Int? { box[0].names.position(of: name, hint: hint) }

  /// The range of the raw JSON of a field in the buffer.
  func range(at position: Int) -> Range<Int> { box[0].slots[position].range }

  /// The raw JSON of a field.
  package func bytes(at position: Int) -> ArraySlice<UInt8> { box[0].buffer[range(at: position)] }

  /// The time of receipt of a field in milliseconds since 1970.
  package func received(at position: Int) -> Int64 {
    box[0].times.isEmpty ? box[0].received : box[0].times[position]
  }

  /// Whether the buffer is the object of a selection set with these names.
  func isObjectText(for names: FieldNames) -> Bool {
    box[0].isObjectText && names.identity != nil && box[0].names.identity == names.identity
  }

  // MARK: Changing

  /// Sets a field. Returns whether its value changed.
  @discardableResult
  package mutating func set(_ name: String, to value: ArraySlice<UInt8>, received: Int64, hint: Int = 0) -> Bool {
    guard let position = position(of: name, hint: hint) else {
      box[0].append(name, value, received)
      return true
    }
    box[0].setReceived(received, at: position)
    if box[0].isSame(position, value.span) { return false }
    box[0].replace(position, value)
    return true
  }

  /// Merges the fields of a newer table.
  ///
  /// - Returns: The names of the fields with a changed value.
  package mutating func merge(_ other: FieldTable) -> [String] {
    if count == 0 {
      self = other
      return other.names
    }
    var changed: [String] = []
    for (position, name) in other.names.enumerated()
    where set(name, to: other.bytes(at: position), received: other.received(at: position), hint: position) {
      changed.append(name)
    }
    return changed
  }

  /// Merges the fields of a record of a response.
  ///
  /// - Returns: The names of the fields with a changed value.
  mutating func merge(_ batch: RecordBatch, _ entry: RecordBatch.Entry) -> [String] {
    guard let identity = box[0].names.identity, identity == batch.names[entry.names].identity else {
      return merge(FieldTable(batch, entry))
    }
    let changed = changes(batch, entry)
    if changed.isEmpty {
      box[0].received = batch.received
      if !box[0].times.isEmpty { box[0].times = [] }
    } else {
      self = FieldTable(batch, entry)
    }
    return changed
  }

  /// The names of the fields that have other values in a record with the same names.
  private func changes(_ batch: RecordBatch, _ entry: RecordBatch.Entry) -> [String] {
    let buffer = batch.buffer
    if let text = entry.objectText, box[0].isObjectText(buffer.span.extracting(text)) { return [] }
    var changed: [String] = []
    for position in box[0].slots.indices {
      let range = batch.slots[entry.slots.lowerBound + position].range
      if !box[0].isSame(position, buffer.span.extracting(range)) { changed.append(box[0].names.list[position]) }
    }
    return changed
  }

  /// Removes a field. Returns whether it existed.
  mutating func remove(_ name: String) -> Bool {
    guard let position = position(of: name) else { return false }
    box[0].remove(at: position)
    return true
  }

  /// Removes the oldest fields with arguments until at most the given number of fields is left.
  ///
  /// The schema limits the number of other fields.
  ///
  /// - Returns: The removed fields with their raw JSON.
  mutating func removeOldest(keeping maximum: Int) -> [(name: String, value: ArraySlice<UInt8>)] {
    let candidates = names.indices.filter { names[$0].utf8.contains(UInt8(ascii: "(")) }
    let oldest = candidates.sorted { (received(at: $0), $0) < (received(at: $1), $1) }.prefix(max(0, count - maximum))
    guard !oldest.isEmpty else { return [] }
    let (removed, gone) = (oldest.map { (names[$0], bytes(at: $0)) }, Set(oldest))
    box[0].keep(names.indices.filter { !gone.contains($0) })
    return removed
  }

  private static func areSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    let count = left.count
    guard count == right.count else { return false }
    // Without an early exit, so that the compiler vectorises the loop. Most values are unchanged.
    var difference: UInt8 = 0
    for offset in 0..<count { difference |= left[offset] ^ right[offset] }
    return difference == 0
  }
}

extension FieldTable: Hashable {
  package static func == (left: FieldTable, right: FieldTable) -> Bool {
    left.count == right.count
      && left.names.indices.allSatisfy { position in
        right.position(of: left.names[position], hint: position).map { left.bytes(at: position) == right.bytes(at: $0) } ?? false
      }
  }

  package func hash(into hasher: inout Hasher) {
    // A sum does not depend on the order, as equality does not.
    hasher.combine(
      names.indices.reduce(into: 0) { sum, position in
        var inner = Hasher()
        inner.combine(names[position])
        inner.combine(bytes(at: position))
        sum &+= inner.finalize()
      })
  }
}
