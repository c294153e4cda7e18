/// Receives the events of a scanner.
///
/// The scanner is the only place that knows the grammar; what is made of a text is a sink's business. Offsets are in bytes,
/// and `bytes` is always the whole text.
protocol JSONSink {
  /// There is a scalar value at `range`.
  mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>)
  /// The name of the member whose value comes next.
  mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>)
  /// An array or an object begins at `offset`.
  mutating func begin(_ kind: JSONContainer, at offset: Int)
  /// The innermost array or object ended just before `offset`.
  mutating func end(_ kind: JSONContainer, at offset: Int)
}

/// A sink that drops all events, for checking whether a text is JSON.
struct JSONValidation: JSONSink {
  mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>) {}
  mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>) {}
  mutating func begin(_ kind: JSONContainer, at offset: Int) {}
  mutating func end(_ kind: JSONContainer, at offset: Int) {}
}

/// A value without parts.
enum JSONScalar {
  case null
  case bool(Bool)
  case number
  case string(JSONStringRange)
}

/// A value with parts.
enum JSONContainer {
  case array
  case object
}

/// Where a string's contents are, without the quotes.
struct JSONStringRange {
  let range: Range<Int>
  let hasEscapes: Bool
}
