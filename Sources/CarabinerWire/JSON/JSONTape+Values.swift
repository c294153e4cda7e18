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
    var reader = TapeReader(self, sharesNames: false)
    return reader.value(at: place, in: bytes)
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
