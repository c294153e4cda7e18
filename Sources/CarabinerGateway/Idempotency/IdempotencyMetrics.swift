/// Counts mutations with a key, by their result.
final class IdempotencyMetrics: Sendable {
  enum Result: String, CaseIterable {
    /// It ran under the key.
    case first
    /// It ran without protection, because the store was away.
    case unprotected
    /// It got the answer of an earlier request.
    case replayed
    /// It was refused: an earlier request runs, is another one, or has no known end, or the store is away.
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
