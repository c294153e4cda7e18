internal import CarabinerWire

/// The tape of a text that is known to be JSON, made byte by byte.
struct ReferenceTape {
  /// The kind, the range and the next entry of a value or a name.
  struct Entry: Equatable {
    let kind: JSONTape.Kind
    let start: Int
    var end: Int
    var next: Int
  }

  private(set) var entries: [Entry] = []
  var isObject: Bool { entries[0].kind == .object }
  private let text: [UInt8]
  private var offset = 0

  init(_ text: [UInt8]) {
    self.text = text
    value()
  }

  /// The places of the members of the outermost object: the name, and the value with its quotes.
  var members: [(name: Range<Int>, value: Range<Int>)] {
    guard isObject else { return [] }
    var (members, place): ([(Range<Int>, Range<Int>)], Int) = ([], 1)
    while place < entries.count {
      let (name, value) = (entries[place], entries[place + 1])
      let quote = value.kind == .string || value.kind == .escapedString ? 1 : 0
      members.append((name.start..<name.end, value.start - quote..<value.end + quote))
      place = value.next
    }
    return members
  }

  private mutating func value() {
    skipSpace()
    switch text[offset] {
    case UInt8(ascii: "{"), UInt8(ascii: "["): container()
    case UInt8(ascii: "\""): string()
    default:
      let start = offset
      while offset < text.count, !isSpace(text[offset]), text[offset] != UInt8(ascii: ","),
        text[offset] | 0x20 != UInt8(ascii: "}")
      { offset += 1 }
      append(text[start] == UInt8(ascii: "n") ? .null : .scalar, start, offset)
    }
  }

  private mutating func container() {
    let (place, isObject) = (entries.count, text[offset] == UInt8(ascii: "{"))
    append(isObject ? .object : .array, offset, offset)
    repeat {
      offset += 1
      skipSpace()
      if text[offset] | 0x20 == UInt8(ascii: "}") { break }
      if isObject {
        string()
        skipSpace()
        offset += 1
      }
      value()
      skipSpace()
    } while text[offset] == UInt8(ascii: ",")
    offset += 1
    entries[place].end = offset
    entries[place].next = entries.count
  }

  private mutating func string() {
    offset += 1
    let start = offset
    var kind = JSONTape.Kind.string
    while text[offset] != UInt8(ascii: "\"") {
      if text[offset] == UInt8(ascii: "\\") {
        kind = .escapedString
        offset += 1
      }
      offset += 1
    }
    append(kind, start, offset)
    offset += 1
  }

  private mutating func skipSpace() {
    while offset < text.count, isSpace(text[offset]) { offset += 1 }
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

  private mutating func append(_ kind: JSONTape.Kind, _ start: Int, _ end: Int) {
    entries.append(Entry(kind: kind, start: start, end: end, next: entries.count + 1))
  }
}
