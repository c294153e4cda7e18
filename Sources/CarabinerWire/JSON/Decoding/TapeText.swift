/// A text and the places of its values, shared by all decoders of the text.
///
/// The path of a value is needed only in errors. It is found by walking to the value, so that decoders need not store it.
package final class TapeText {
  let bytes: [UInt8]
  let entries: [JSONTape.Entry]
  let foreign: JSONTape.ForeignTypes
  /// Whether a number may be decoded as a string of its digits.
  let readsNumbersAsStrings: Bool
  /// The entry of the decoded value.
  let root: Int32
  /// The values of members that are not in the text; nil for a text that is complete.
  var absentMembers: (any AbsentMembers)?
  /// The forms of types that were decoded before.
  var forms = TapeForms()
  /// The member after the last one that was found, by the object's depth: fields mostly are in the order in which they are
  /// decoded.
  @exclusivity(unchecked) private var hints = InlineArray<16, Hint>(repeating: Hint(object: -1, member: -1))

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
    let entry = entries[Int(entry)]
    return withBytes { JSONTape.string(entry, in: $0) }
  }

  /// Passes the text to `body`. A copy of the array would increment its reference count.
  @inline(__always) func withBytes<Answer>(_ body: (Span<UInt8>) -> Answer) -> Answer {
    unsafe bytes.withUnsafeBufferPointer { unsafe body(Span(_unsafeElements: $0)) }
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
    unsafe name.utf8.withContiguousStorageIfAvailable { unsafe value(of: $0, in: object, depth: depth) } ?? nil
  }

  /// The value of an object's member whose name is a constant.
  @inline(__always) func value(of name: StaticString, in object: Int32, depth: Int32) -> Int32? {
    name.withUTF8Buffer { unsafe value(of: $0, in: object, depth: depth) }
  }

  /// Looks at the member that is expected first, in few instructions.
  private func value(of name: UnsafeBufferPointer<UInt8>, in object: Int32, depth: Int32) -> Int32? {
    let (slot, end) = (Int(depth & 15), entries[Int(object)].next)
    // Safe: a decoder is used on one thread, and nothing is called while the hints are read or written.
    let hint = unsafe hints[slot]
    let expected = hint.object == object ? hint.member : object + 1
    var found: Int32? = expected
    if unsafe expected >= end || !isName(expected, name) {
      found = unsafe search(name, in: object, from: expected)
    }
    guard let found else { return nil }
    unsafe hints[slot] = Hint(object: object, member: entries[Int(found) + 1].next)
    return found + 1
  }

  @inline(__always) private func isName(_ member: Int32, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let entry = entries[Int(member)]
    let name = unsafe Span(_unsafeElements: name)
    return withBytes { entry.isNamed(name, in: $0) }
  }

  /// Looks at all members, first at those from a place on.
  @inline(never) private func search(_ name: UnsafeBufferPointer<UInt8>, in object: Int32, from place: Int32) -> Int32? {
    let end = entries[Int(object)].next
    for (first, end) in [(place, end), (object + 1, min(place, end))] {
      var member = first
      while member < end {
        if unsafe isName(member, name) { return member }
        member = entries[Int(member) + 1].next
      }
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
