/// A parsed text and what was odd about it.
public struct JSONTree: Sendable {
  /// The value.
  public let value: JSONValue
  /// How many members had a name that stood before in their object.
  public let duplicates: Int

  /// Parses a text.
  ///
  /// - Throws: ``JSONError`` with the offset of the first fault.
  public init(parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var sink = TreeSink()
    try JSONScanner(limits: limits).scan(bytes, into: &sink)
    value = sink.root
    duplicates = sink.duplicates
  }
}

/// Builds a tree from what the scanner sees.
///
/// The parts of all open containers lie on one stack, so that each container is allocated once, in its final size.
private struct TreeSink: JSONSink {
  private(set) var duplicates = 0
  private var values: [JSONValue] = []
  private var keys: [String] = []
  /// Where on the stack the parts of each open container begin.
  private var starts: [(value: Int, key: Int)] = []

  /// The outermost value; there is one once the scanner came to the end.
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
    keys.append(string.string(in: bytes))
  }

  mutating func begin(_ kind: JSONContainer, at offset: Int) { starts.append((values.count, keys.count)) }

  mutating func end(_ kind: JSONContainer, at offset: Int) {
    guard let start = starts.popLast() else { return }
    let value: JSONValue =
      switch kind {
      case .array: .array(Array(values[start.value...]))
      case .object: .object(object(from: start))
      }
    values.removeSubrange(start.value...)
    values.append(value)
  }

  private mutating func object(from start: (value: Int, key: Int)) -> JSONObject {
    var members = OrderedMembers<JSONValue>(capacity: keys.count - start.key)
    for place in 0..<keys.count - start.key
    where members.set(values[start.value + place], for: keys[start.key + place]) {
      duplicates += 1
    }
    keys.removeSubrange(start.key...)
    return JSONObject(members)
  }
}
