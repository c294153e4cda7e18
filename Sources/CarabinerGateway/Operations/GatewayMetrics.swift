internal import Carabiner
internal import Synchronization

/// The metrics of a gateway, in Prometheus' text format.
package final class GatewayMetrics: Sendable {
  private static let types: [GraphQLOperationType] = [.query, .mutation, .subscription]
  private static let outcomes = ["succeeded", "errors", "failed", "cancelled"]
  private static let sources = ["server", "cache", "plugin"]

  private let byStatus = (100..<600).map { _ in AtomicCount() }
  private let cancellations = AtomicCount()
  private let limited = AtomicCount()
  private let latencies = LatencyBuckets(.ofRequests)
  /// One counter per operation type and outcome.
  private let operations = (0..<types.count * outcomes.count).map { _ in AtomicCount() }
  private let results = sources.map { _ in AtomicCount() }
  let sockets = SocketMetrics()
  let operationRules = OperationRuleMetrics()
  let compression = CompressionMetrics()
  let idempotency = IdempotencyMetrics()

  /// Creates metrics with all counters at zero.
  package init() {}

  func answered(_ status: Int, in time: Duration) {
    if (100..<600).contains(status) { byStatus[status - 100].add() }
    latencies.record(time)
  }

  func cancelled() { cancellations.add() }

  func rateLimited() { limited.add() }

  func ended(_ type: GraphQLOperationType, _ outcome: OperationOutcome) {
    operations[type.row * Self.outcomes.count + outcome.column].add()
  }

  func countResponse(from source: GraphQLResponse<DynamicOperation>.Source) {
    switch source {
    case .server: results[0].add()
    case .cache: results[1].add()
    case .interceptor: results[2].add()
    }
  }

  /// The number of answered requests by status.
  package var answers: [Int: UInt64] {
    Dictionary(uniqueKeysWithValues: byStatus.enumerated().compactMap { $1.value == 0 ? nil : ($0 + 100, $1.value) })
  }

  /// Appends the metrics to a text.
  package func write(to text: inout some MetricSink) {
    text.family("carabiner_requests_total", .counter, "Requests answered, by status.")
    for (status, count) in answers.sorted(by: { $0.key < $1.key }) {
      text.sample("carabiner_requests_total", [("status", String(status))], Double(count))
    }
    text.single(
      "carabiner_requests_cancelled_total", .counter, "Requests whose client disconnected before the response was complete.",
      cancellations.value)
    text.single(
      "carabiner_requests_rate_limited_total", .counter, "Requests refused because their client sent too many.", limited.value)
    let seconds = "carabiner_request_duration_seconds"
    text.family(seconds, .histogram, "Time from a request's last byte to the last of its answer.")
    latencies.write(seconds, [], to: &text)
    text.family("carabiner_operations_total", .counter, "Operations that have ended, by type and outcome.")
    for type in Self.types {
      for (column, outcome) in Self.outcomes.enumerated() {
        text.sample(
          "carabiner_operations_total", [("type", type.rawValue), ("outcome", outcome)],
          Double(operations[type.row * Self.outcomes.count + column].value))
      }
    }
    text.family(
      "carabiner_results_total", .counter, "Results that were delivered, by whether the server, a cache or a plugin made them.")
    for (source, count) in zip(Self.sources, results) {
      text.sample("carabiner_results_total", [("source", source)], Double(count.value))
    }
    sockets.write(to: &text)
    operationRules.write(to: &text)
    compression.write(to: &text)
    idempotency.write(to: &text)
  }
}

extension GraphQLOperationType {
  fileprivate var row: Int {
    switch self {
    case .query: 0
    case .mutation: 1
    case .subscription: 2
    }
  }
}

extension OperationOutcome {
  fileprivate var column: Int {
    switch self {
    case .succeeded: 0
    case .hadErrors: 1
    case .failed: 2
    case .cancelled: 3
    }
  }
}
