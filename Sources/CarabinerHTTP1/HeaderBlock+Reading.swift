internal import CarabinerWire

/// The differences between the headers of requests and of responses.
struct FieldRules: Sendable {
  /// Whether a line may begin with spaces, which continues the value before it (RFC 9112, 5.2).
  let allowsFolding: Bool
  /// Whether a line may end without a carriage return (RFC 9112, 2.2).
  let allowsBareLineFeed: Bool
  /// Whether values may have control characters besides CR, LF and NUL.
  let allowsControls: Bool
  /// Whether a length that no Int holds is read as the largest one. A server refuses it as it refuses every length above its limit.
  let allowsEndlessLength: Bool

  /// A client accepts what servers have always sent, if it can be read in one way only.
  static let response = FieldRules(
    allowsFolding: true, allowsBareLineFeed: true, allowsControls: true, allowsEndlessLength: false)
  /// A server is strict: a proxy before it may read a doubtful line in another way.
  static let request = FieldRules(
    allowsFolding: false, allowsBareLineFeed: false, allowsControls: false, allowsEndlessLength: true)
}

extension HeaderBlock {
  /// Adds the headers in ``bytes`` from `start` on to the index. The bytes end with an empty line.
  mutating func readFields(from start: Int, _ rules: FieldRules, maximum: Int) throws(HTTP1Error) {
    var position = start
    while position < bytes.count {
      let first = bytes[position]
      if first == Byte.carriageReturn || first == Byte.lineFeed {
        guard try Self.lineEnd(bytes.span, at: position, rules) != nil else {
          return try Self.refuse("a header begins with a CR")
        }
        return
      }
      if Byte.isSpace(first) {
        position = try readContinuation(from: position, start, rules)
      } else {
        guard entries.count < maximum else { throw HTTP1Error(.headTooLarge, "it has more than \(maximum) headers") }
        let (entry, next) = try Self.field(bytes.span, from: position, rules)
        entries.append(entry)
        position = next
      }
    }
  }

  /// Reads a line. Returns also the beginning of the next one.
  private static func field(
    _ bytes: Span<UInt8>, from start: Int, _ rules: FieldRules
  ) throws(HTTP1Error) -> (entry: Entry, next: Int) {
    let nameEnd = bytes.firstColon(from: start)
    let name = start..<nameEnd
    let known = KnownNames.shared.name(bytes, at: name)
    // Those that are known are tokens.
    guard known != nil || !name.isEmpty && name.allSatisfy({ bytes[$0].isTokenByte }), nameEnd < bytes.count else {
      throw HTTP1Error(.malformedHead, "a header has no name: \(String(quoting: bytes, from: start))")
    }
    let (valueEnd, next) = try valueEnd(bytes, from: nameEnd &+ 1, rules)
    let value = bytes.trimmed(nameEnd &+ 1..<valueEnd)
    return (Entry(name: name, value: value, known: known), next)
  }

  /// Joins a continuation line to the value before it, with one space. Returns the beginning of the next line.
  private mutating func readContinuation(from start: Int, _ first: Int, _ rules: FieldRules) throws(HTTP1Error) -> Int {
    guard rules.allowsFolding, let last = entries.indices.last else {
      throw HTTP1Error(.malformedHead, "a header begins with a space")
    }
    let (valueEnd, next) = try Self.valueEnd(bytes.span, from: start, rules)
    let rest = bytes.span.trimmed(start..<valueEnd)
    let value = entries[last].value
    var end = Int(value.upperBound)
    // The line end before makes room for the space.
    if !value.isEmpty {
      bytes[end] = Byte.space
      end += 1
    }
    for index in rest {
      bytes[end] = bytes[index]
      end += 1
    }
    entries[last].value = value.lowerBound..<UInt32(truncatingIfNeeded: end)
    return next
  }

  /// The end of a value, and the beginning of the next line.
  private static func valueEnd(
    _ bytes: Span<UInt8>, from start: Int, _ rules: FieldRules
  ) throws(HTTP1Error) -> (end: Int, next: Int) {
    var end = start
    while true {
      end = bytes.firstControl(from: end)
      guard end < bytes.count else { return (end, end) }
      switch bytes[end] {
      case Byte.carriageReturn, Byte.lineFeed:
        guard let next = try lineEnd(bytes, at: end, rules) else { return try refuse("a header has a CR, LF or NUL in it") }
        return (end, next)
      case 0: return try refuse("a header has a CR, LF or NUL in it")
      case Byte.tab: end &+= 1
      default:
        guard rules.allowsControls else { return try refuse("a header has a control character in it") }
        end &+= 1
      }
    }
  }

  /// The position after a line end; nil if there is a carriage return without a line feed.
  static func lineEnd(_ bytes: Span<UInt8>, at position: Int, _ rules: FieldRules) throws(HTTP1Error) -> Int? {
    if bytes[position] == Byte.lineFeed {
      guard rules.allowsBareLineFeed else { return try refuse("a line ends without a CR") }
      return position &+ 1
    }
    guard position &+ 1 < bytes.count, bytes[position &+ 1] == Byte.lineFeed else { return nil }
    return position &+ 2
  }

  private static func refuse<Value>(_ reason: String) throws(HTTP1Error) -> Value { throw HTTP1Error(.malformedHead, reason) }
}
