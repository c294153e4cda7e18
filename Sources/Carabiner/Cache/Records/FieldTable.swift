/// The fields of a record: names, and raw JSON in one buffer.
///
/// The list of names is usually that of a selection set and shared by all records made of it; two records with the same list
/// are compared and merged position by position.
package struct FieldTable: Sendable {
  struct Slot: Sendable {
    var start: Int32
    var length: Int32
    /// When the value was received, in milliseconds since 1970.
    var received: Int64

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
  }

  /// From this many fields on, names are looked up in an index.
  private static var indexThreshold: Int { 24 }

  package private(set) var names: [String]
  private(set) var slots: [Slot]
  private(set) var buffer: [UInt8]
  private var index: [String: Int]?
  /// How many bytes of the buffer no field uses any more.
  private var garbage = 0

  /// No fields.
  package init() { self.init(names: [], slots: [], buffer: []) }

  init(names: [String], slots: [Slot], buffer: [UInt8]) {
    self.names = names
    self.slots = slots
    self.buffer = buffer
  }

  /// How many fields there are.
  package var count: Int { names.count }

  /// About how many bytes of memory this takes if its buffer is its own; names are mostly shared and not counted.
  var cost: Int { buffer.count - garbage + slots.count * 40 }

  /// Where a field is.
  ///
  /// - Parameter hint: Where it is if this table was made for the selection set of the caller.
  func position(of name: String, hint: Int = 0) -> Int? {
    if hint < names.count, names[hint] == name { return hint }
    if let index { return index[name] }
    return names.firstIndex(of: name)
  }

  func bytes(at position: Int) -> ArraySlice<UInt8> { buffer[slots[position].range] }

  /// Sets a field; tells whether its value was another before.
  @discardableResult
  package mutating func set(_ name: String, to value: ArraySlice<UInt8>, received: Int64, hint: Int = 0) -> Bool {
    guard let position = position(of: name, hint: hint) else {
      slots.append(Slot(start: Int32(buffer.count), length: Int32(value.count), received: received))
      buffer.append(contentsOf: value)
      index?[name] = names.count
      names.append(name)
      if index == nil, names.count > Self.indexThreshold {
        index = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
      }
      return true
    }
    slots[position].received = received
    let range = slots[position].range
    if Self.areSame(buffer.span.extracting(range), value.span) { return false }
    if value.count <= range.count {
      buffer.replaceSubrange(range.lowerBound..<range.lowerBound + value.count, with: value)
      garbage += range.count - value.count
    } else {
      garbage += range.count
      slots[position].start = Int32(buffer.count)
      buffer.append(contentsOf: value)
    }
    slots[position].length = Int32(value.count)
    if garbage > 256, garbage > buffer.count / 2 { self = compacted() }
    return true
  }

  /// Takes over the fields of a newer table.
  ///
  /// - Returns: The names of those whose value changed.
  mutating func merge(_ other: FieldTable) -> [String] {
    var changed: [String] = []
    for position in other.names.indices {
      let name = other.names[position]
      if set(name, to: other.bytes(at: position), received: other.slots[position].received, hint: position) {
        changed.append(name)
      }
    }
    return changed
  }

  /// The same fields in a buffer that holds nothing else.
  func compacted() -> FieldTable {
    var copy = self
    copy.buffer = []
    copy.garbage = 0
    copy.buffer.reserveCapacity(slots.reduce(into: 0) { $0 += Int($1.length) })
    for position in slots.indices {
      copy.slots[position].start = Int32(copy.buffer.count)
      copy.buffer.append(contentsOf: buffer[slots[position].range])
    }
    return copy
  }

  /// Removes a field; tells whether it was there.
  mutating func remove(_ name: String) -> Bool {
    guard let position = position(of: name) else { return false }
    names.remove(at: position)
    garbage += Int(slots.remove(at: position).length)
    index = index == nil ? nil : Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    return true
  }

  private static func areSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for offset in left.indices where left[offset] != right[offset] { return false }
    return true
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
