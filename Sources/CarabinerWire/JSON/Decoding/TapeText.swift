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
  /// The forms of types that were decoded before.
  var forms = TapeForms()
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

  /// The text of a number or a Boolean, or the content of a string.
  func text(of entry: Int32) -> String {
    let bytes = bytes
    return JSONTape.string(entries[Int(entry)], in: bytes.span)
  }

  /// The raw JSON of a value.
  func raw(_ entry: Int32) -> ArraySlice<UInt8> { bytes[entries[Int(entry)].range] }

  /// The first byte of a value, without the quote of a string.
  func firstByte(_ entry: Int32) -> UInt8 { bytes[Int(entries[Int(entry)].start)] }

  func isNull(_ entry: Int32) -> Bool { if case .null = entries[Int(entry)].kind { true } else { false } }

  func isObject(_ entry: Int32) -> Bool { if case .object = entries[Int(entry)].kind { true } else { false } }

  func isArray(_ entry: Int32) -> Bool { if case .array = entries[Int(entry)].kind { true } else { false } }

  /// The number of elements of an array.
  func count(of array: Int32) -> Int {
    let end = entries[Int(array)].next
    var (count, entry) = (0, array + 1)
    while entry < end {
      entry = entries[Int(entry)].next
      count += 1
    }
    return count
  }

  /// The value of an object's member; nil if there is no such member. If a name is repeated, any of its values may be returned.
  func value(of name: String, in object: Int32, depth: Int32) -> Int32? {
    let slot = Int(depth & 15)
    let (first, end) = (object + 1, entries[Int(object)].next)
    let hinted = hints[slot].object == object ? hints[slot].member : first
    guard let member = member(name, from: hinted, to: end) ?? member(name, from: first, to: hinted) else { return nil }
    hints[slot] = Hint(object: object, member: entries[Int(member) + 1].next)
    return member + 1
  }

  @inline(__always) private func member(_ name: String, from first: Int32, to end: Int32) -> Int32? {
    let bytes = bytes
    var member = first
    while member < end {
      if entries[Int(member)].isNamed(name, in: bytes.span) { return member }
      member = entries[Int(member) + 1].next
    }
    return nil
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
}
