/// Counts mutations with a key, by their result.
final class IdempotencyMetrics: Sendable {
  enum Result: String, CaseIterable {
    /// The mutation ran, and its answer is stored under the key.
    case first
    /// The mutation ran without protection, because the store was not available.
    case unprotected
    /// The client got the answer of an earlier request.
    case replayed
    /// The mutation was refused: an earlier request is still running, had other contents, or has no known result; or the store is not
    /// available.
    case running, reused, unknown, unavailable
  }

  private let counts = Result.allCases.map { _ in AtomicCount() }

  func count(_ result: Result) {
    for (known, count) in zip(Result.allCases, counts) where known == result { count.add() }
  }

  /// Adds the metrics to a sink, if there were such mutations.
  func write(to text: inout some MetricSink) {
    guard counts.contains(where: { $0.value > 0 }) else { return }
    let name = "carabiner_idempotency_total"
    text.family(name, .counter, "Mutations with an idempotency key, by their result.")
    for (result, count) in zip(Result.allCases, counts) {
      text.sample(name, [("result", result.rawValue)], Double(count.value))
    }
  }
}
