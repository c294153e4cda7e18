/// Receives the events of a scanner.
///
/// Only the scanner implements the grammar; a sink decides what to build. Offsets are in bytes, and `bytes` is always the whole
/// text.
protocol JSONSink {
  /// Called for a scalar value at `range`.
  mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>)
  /// Called for the name of the member whose value follows.
  mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>)
  /// Called when an array or an object begins at `offset`.
  mutating func begin(_ kind: JSONContainer, at offset: Int)
  /// Called when the innermost array or object has ended just before `offset`.
  mutating func end(_ kind: JSONContainer, at offset: Int)
}

/// A sink that ignores all events, for validating a text.
struct JSONValidation: JSONSink {
  mutating func scalar(_ scalar: JSONScalar, at range: Range<Int>, in bytes: Span<UInt8>) {}
  mutating func key(_ string: JSONStringRange, in bytes: Span<UInt8>) {}
  mutating func begin(_ kind: JSONContainer, at offset: Int) {}
  mutating func end(_ kind: JSONContainer, at offset: Int) {}
}

/// A value that is not a container.
enum JSONScalar {
  case null
  case bool(Bool)
  case number
  case string(JSONStringRange)
}

/// A kind of container.
enum JSONContainer {
  case array
  case object
}

/// The range of a string's content, without the quotes.
struct JSONStringRange {
  let range: Range<Int>
  let hasEscapes: Bool
}
