internal import CarabinerWire

/// The partial failure in a successful response of a collector.
enum PartialSuccess {
  /// The number of rejected spans, and the reason.
  static func read(_ body: [UInt8]) -> (refused: Int, reason: String) {
    guard let partial = try? JSONValue(parsing: body)["partialSuccess"] else { return (0, "") }
    // 64-bit integers are usually strings.
    let refused = partial["rejectedSpans"].flatMap { $0.int ?? $0.string.flatMap { Int($0) } } ?? 0
    return (max(0, refused), partial["errorMessage"]?.string ?? "")
  }
}
