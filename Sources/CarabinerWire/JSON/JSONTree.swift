/// A parsed text, with the number of repeated names.
public struct JSONTree: Sendable {
  /// The value.
  public let value: JSONValue
  /// The number of members that repeat a name in their object.
  public let duplicates: Int

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var sink = TreeSink(bytes: bytes)
    try JSONScanner(limits: limits).scan(bytes, into: &sink)
    value = sink.root
    duplicates = sink.duplicates
  }
}

/// Builds a tree from the events of the scanner.
///
/// The parts of all open containers are on one stack, so that each container is allocated once, in its final size. Objects in a
/// list often have the same names, so an object shares the names of the preceding one as far as they are equal.
private struct TreeSink: JSONSink {
  /// A container that is not closed.
  private struct Open {
    /// The index of its first part on the stacks.
    let value: Int
    let key: Int
    /// Whether all names so far are those of the last object at this depth, in the same order. Then they are also distinct.
    var isAlike = true
  }

  private(set) var duplicates = 0
  private var values: [JSONValue] = []
  private var keys: [String] = []
  private var open: [Open] = []
  /// The members of the last object at each depth. The whole members are kept, because a list of the names alone would need an
  /// allocation.
  private var last: [[OrderedMembers<JSONValue>.Member]] = []

  init(bytes: Span<UInt8>) {
    // For a short text, growing the stacks step by step would take as long as the rest.
    guard !bytes.isEmpty, bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "[") else { return }
    let parts = Swift.min(bytes.count / Self.bytesPerPart, Self.maximumFirstParts)
    values.reserveCapacity(parts)
    keys.reserveCapacity(parts)
    open.reserveCapacity(Self.firstDepth)
    last.reserveCapacity(Self.firstDepth)
  }

  private static let bytesPerPart = 8
  private static let maximumFirstParts = 64
  private static let firstDepth = 4

  /// The outermost value, available when the scanner has reached the end.
  var root: JSONValue { values.last ?? .null }

  mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>) {
    switch scalar {
    case .null: values.append(.null)
    case .bool(let value): values.append(.bool(value))
    case .number: values.append(.number(JSONNumber(checked: String(text: bytes.extracting(range)))))
    case .string(let text): values.append(.string(text.string(in: bytes)))
    }
  }

  mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>) {
    let depth = open.count - 1
    if open[depth].isAlike {
      let place = keys.count - open[depth].key
      if place < last[depth].count, !string.hasEscapes, last[depth][place].key.hasSameBytes(as: bytes.extracting(string.range)) {
        keys.append(last[depth][place].key)
        return
      }
      open[depth].isAlike = false
    }
    keys.append(string.string(in: bytes))
  }

  mutating func begin(_ kind: JSONContainer, at offset: Int) {
    open.append(Open(value: values.count, key: keys.count))
    if last.count < open.count { last.append([]) }
  }

  mutating func end(_ kind: JSONContainer, at offset: Int) {
    guard let container = open.popLast() else { return }
    let value: JSONValue =
      switch kind {
      case .array: .array(array(container))
      case .object: .object(object(container))
      }
    values.removeSubrange(container.value...)
    values.append(value)
  }

  private mutating func array(_ container: Open) -> [JSONValue] {
    var elements: [JSONValue] = []
    elements.reserveCapacity(values.count - container.value)
    for place in container.value..<values.count { elements.append(takeValue(place)) }
    return elements
  }

  /// Moves a value off the stack. A copy would change its reference counts twice.
  private mutating func takeValue(_ place: Int) -> JSONValue {
    var value = JSONValue.null
    swap(&value, &values[place])
    return value
  }

  private mutating func object(_ container: Open) -> JSONObject {
    let count = keys.count - container.key
    var members = OrderedMembers<JSONValue>(capacity: count)
    if container.isAlike {
      for place in 0..<count { members.append(takeValue(container.value + place), for: keys[container.key + place]) }
    } else {
      for place in 0..<count where members.set(takeValue(container.value + place), for: keys[container.key + place]) {
        duplicates += 1
      }
      last[open.count] = members.members
    }
    keys.removeSubrange(container.key...)
    return JSONObject(members)
  }
}
