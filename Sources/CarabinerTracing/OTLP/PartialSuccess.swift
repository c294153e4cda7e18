internal import CarabinerWire

/// What a collector says in an answer that is otherwise a success.
enum PartialSuccess {
  /// How many spans were refused, and why.
  static func read(_ body: [UInt8]) -> (refused: Int, reason: String) {
    guard let partial = try? JSONValue(parsing: body)["partialSuccess"] else { return (0, "") }
    // 64 bits come as digits in quotes, as a rule.
    let refused = partial["rejectedSpans"].flatMap { $0.int ?? $0.string.flatMap { Int($0) } } ?? 0
    return (max(0, refused), partial["errorMessage"]?.string ?? "")
  }
}
