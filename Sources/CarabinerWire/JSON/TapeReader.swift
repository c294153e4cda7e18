/// Makes values of the entries of a tape.
struct TapeReader {
  /// The number of members that repeat a name in their object.
  private(set) var duplicates = 0
  private let entries: [JSONTape.Entry]
  /// Whether an object shares the names of the preceding one at its depth, as far as they are equal. In a list they mostly are.
  private let sharesNames: Bool
  /// The members of the last object at each depth. The whole members are kept, because a list of the names alone would need an
  /// allocation.
  private var last: [[OrderedMembers<JSONValue>.Member]] = []

  init(_ tape: JSONTape, sharesNames: Bool) {
    entries = tape.entries
    self.sharesNames = sharesNames
  }

  /// The value of an entry.
  mutating func value(at place: Int, depth: Int = 0, in bytes: Span<UInt8>) -> JSONValue {
    let entry = entries[place]
    switch entry.kind {
    case .null: return .null
    case .string, .escapedString: return .string(JSONTape.string(entry, in: bytes))
    case .object: return .object(object(at: place, depth: depth, in: bytes))
    case .array: return .array(array(at: place, depth: depth, in: bytes))
    case .scalar:
      switch bytes[Int(entry.start)] {
      case UInt8(ascii: "t"): return .bool(true)
      case UInt8(ascii: "f"): return .bool(false)
      default: return .number(JSONNumber(checked: String(text: bytes.extracting(entry.range))))
      }
    }
  }

  private mutating func object(at place: Int, depth: Int, in bytes: Span<UInt8>) -> JSONObject {
    let end = Int(entries[place].next)
    var members = OrderedMembers<JSONValue>(capacity: count(from: place + 1, to: end, each: 2))
    // Names that are all shared, in the same order, are distinct.
    var isAlike = sharesNames && depth < last.count
    var name = place + 1
    while name < end {
      isAlike = isAlike && isNext(entries[name], after: members.members.count, at: depth, in: bytes)
      let value = value(at: name + 1, depth: depth + 1, in: bytes)
      if isAlike {
        members.append(value, for: last[depth][members.members.count].key)
      } else if members.set(value, for: JSONTape.string(entries[name], in: bytes)) {
        duplicates += 1
      }
      name = Int(entries[name + 1].next)
    }
    if sharesNames, !isAlike {
      while last.count <= depth { last.append([]) }
      last[depth] = members.members
    }
    return JSONObject(members)
  }

  /// Whether the last object at a depth has this name after `count` members.
  private func isNext(_ name: JSONTape.Entry, after count: Int, at depth: Int, in bytes: Span<UInt8>) -> Bool {
    guard count < last[depth].count, case .string = name.kind else { return false }
    return last[depth][count].key.hasSameBytes(as: bytes.extracting(Int(name.start)..<Int(name.end)))
  }

  private mutating func array(at place: Int, depth: Int, in bytes: Span<UInt8>) -> [JSONValue] {
    let end = Int(entries[place].next)
    var elements: [JSONValue] = []
    elements.reserveCapacity(count(from: place + 1, to: end, each: 1))
    var element = place + 1
    while element < end {
      elements.append(value(at: element, depth: depth + 1, in: bytes))
      element = Int(entries[element].next)
    }
    return elements
  }

  /// The number of parts of a container, so that its memory is allocated once.
  ///
  /// - Parameter each: How many entries begin a part: two for a member, whose name precedes its value.
  private func count(from start: Int, to end: Int, each: Int) -> Int {
    var (count, place) = (0, start)
    while place < end {
      count += 1
      place = Int(entries[place + each - 1].next)
    }
    return count
  }
}
