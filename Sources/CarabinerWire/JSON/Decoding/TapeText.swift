/// A text and the places of its values, shared by all decoders of the text.
///
/// The path of a value is needed only in errors. It is found by walking to the value, so that decoders need not store it.
final class TapeText {
  let bytes: [UInt8]
  let entries: [JSONTape.Entry]
  let foreign: JSONTape.ForeignTypes
  /// Whether a number may be decoded as a string of its digits.
  let readsNumbersAsStrings: Bool
  /// The entry of the decoded value.
  let root: Int32
  /// The member after the last one that was found, by the object's depth: fields mostly are in the order in which they are
  /// decoded.
  private var hints = InlineArray<16, Hint>(repeating: Hint(object: -1, member: -1))

  private struct Hint {
    var object: Int32
    var member: Int32
  }

  init(
    _ bytes: [UInt8], _ entries: [JSONTape.Entry], root: Int32, readsNumbersAsStrings: Bool,
    foreign: @escaping JSONTape.ForeignTypes
  ) {
    self.bytes = bytes
    self.readsNumbersAsStrings = readsNumbersAsStrings
    self.entries = entries
    self.root = root
    self.foreign = foreign
  }

  // MARK: Values

  /// The text of a number or a Boolean, or the content of a string.
  func text(of entry: Int32) -> String {
    let bytes = bytes
    return JSONTape.string(entries[Int(entry)], in: bytes.span)
  }

  /// The raw JSON of a value.
  func raw(_ entry: Int32) -> ArraySlice<UInt8> { bytes[entries[Int(entry)].range] }

  func isNull(_ entry: Int32) -> Bool { if case .null = entries[Int(entry)].kind { true } else { false } }

  // MARK: Members

  /// The value of an object's member; nil if there is no such member. If a name is repeated, any of its values may be returned.
  func value(of name: String, in object: Int32, depth: Int32) -> Int32? {
    let slot = Int(depth & 15)
    let (first, end) = (object + 1, entries[Int(object)].next)
    let hinted = hints[slot].object == object ? hints[slot].member : first
    guard let member = member(name, from: hinted, to: end) ?? member(name, from: first, to: hinted) else { return nil }
    hints[slot] = Hint(object: object, member: entries[Int(member) + 1].next)
    return member + 1
  }

  private func member(_ name: String, from first: Int32, to end: Int32) -> Int32? {
    let (bytes, name) = (bytes, name.utf8Span.span)
    var member = first
    while member < end {
      let entry = entries[Int(member)]
      if case .escapedString = entry.kind {
        let written = text(of: member)
        if Self.areSame(written.utf8Span.span, name) { return member }
      } else if Int(entry.end - entry.start) == name.count,
        Self.areSame(bytes.span.extracting(Int(entry.start)..<Int(entry.end)), name)
      {
        return member
      }
      member = entries[Int(member) + 1].next
    }
    return nil
  }

  private static func areSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for offset in left.indices where left[offset] != right[offset] { return false }
    return true
  }

  /// The names of an object's members.
  func names(of object: Int32) -> [String] {
    var names: [String] = []
    var member = object + 1
    while member < entries[Int(object)].next {
      names.append(text(of: member))
      member = entries[Int(member) + 1].next
    }
    return names
  }

  // MARK: Errors

  /// The path of a value.
  func path(to target: Int32) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var container = root
    while container != target {
      let (isObject, end) = (isObject(container), entries[Int(container)].next)
      var (child, index) = (container + (isObject ? 2 : 1), 0)
      while child < end, entries[Int(child)].next <= target {
        child = entries[Int(child)].next + (isObject ? 1 : 0)
        index += 1
      }
      guard child < end else { return path }
      path.append(isObject ? TapeKey(stringValue: text(of: child - 1)) : TapeKey(index: index))
      container = child
    }
    return path
  }

  func isObject(_ entry: Int32) -> Bool { if case .object = entries[Int(entry)].kind { true } else { false } }

  /// The error for a value that is null or of another kind than the type requires.
  func mismatch(_ type: any Any.Type, _ entry: Int32) -> DecodingError {
    if isNull(entry) {
      return .valueNotFound(
        type, .init(codingPath: path(to: entry), debugDescription: "Cannot get value of type \(type) -- found null value instead")
      )
    }
    let kind =
      switch entries[Int(entry)].kind {
      case .null: "null"
      case .scalar: bytes[Int(entries[Int(entry)].start)] >= UInt8(ascii: "f") ? "bool" : "number"
      case .string, .escapedString: "string"
      case .object: "a dictionary"
      case .array: "an array"
      }
    return .typeMismatch(
      type, .init(codingPath: path(to: entry), debugDescription: "Expected to decode \(type) but found \(kind) instead."))
  }

  /// The error for a value of the right kind that is not valid for the type.
  func corrupted(_ entry: Int32, _ message: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(to: entry), debugDescription: message))
  }
}

/// A name or an index in the path of a value.
struct TapeKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) { self.init(index: intValue) }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }
}
