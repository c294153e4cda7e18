/// Values of a tape as trees, for a reader who needs few of them.
extension JSONTape {
  /// Whether the text is an object.
  package var isObject: Bool {
    if case .object? = entries.first?.kind { true } else { false }
  }

  /// The entry of the value of a member of the outermost object, the last one if the name is repeated; nil if there is none.
  package func member(_ name: String, in bytes: Span<UInt8>) -> Int? {
    guard isObject else { return nil }
    var found: Int?
    var place = 1
    while place < entries.count {
      if entries[place].isNamed(name.utf8Span.span, in: bytes) { found = place + 1 }
      place = Int(entries[place + 1].next)
    }
    return found
  }

  /// The value of an entry. Values are as deep as the limits of the scan allow, and so are the calls.
  package func value(at place: Int, in bytes: Span<UInt8>) -> JSONValue {
    let entry = entries[place]
    switch entry.kind {
    case .null: return .null
    case .string, .escapedString: return .string(Self.string(entry, in: bytes))
    case .object: return .object(object(at: place, in: bytes))
    case .array: return .array(array(at: place, in: bytes))
    case .scalar:
      switch bytes[Int(entry.start)] {
      case UInt8(ascii: "t"): return .bool(true)
      case UInt8(ascii: "f"): return .bool(false)
      default: return .number(JSONNumber(checked: String(text: bytes.extracting(entry.range))))
      }
    }
  }

  private func object(at place: Int, in bytes: Span<UInt8>) -> JSONObject {
    let end = Int(entries[place].next)
    var members = OrderedMembers<JSONValue>(capacity: count(from: place + 1, to: end, each: 2))
    var name = place + 1
    while name < end {
      members.set(value(at: name + 1, in: bytes), for: Self.string(entries[name], in: bytes))
      name = Int(entries[name + 1].next)
    }
    return JSONObject(members)
  }

  private func array(at place: Int, in bytes: Span<UInt8>) -> [JSONValue] {
    let end = Int(entries[place].next)
    var elements: [JSONValue] = []
    elements.reserveCapacity(count(from: place + 1, to: end, each: 1))
    var element = place + 1
    while element < end {
      elements.append(value(at: element, in: bytes))
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

extension JSONTape.Entry {
  /// Whether this is the name of a member with exactly these bytes.
  @inline(__always) func isNamed(_ name: Span<UInt8>, in bytes: Span<UInt8>) -> Bool {
    if case .escapedString = kind { return isEscaped(name, in: bytes) }
    return name.hasSameBytes(as: bytes.extracting(Int(start)..<Int(end)))
  }

  /// A separate function, because escapes in names are rare.
  @inline(never) private func isEscaped(_ name: Span<UInt8>, in bytes: Span<UInt8>) -> Bool {
    JSONTape.string(self, in: bytes).hasSameBytes(as: name)
  }
}
