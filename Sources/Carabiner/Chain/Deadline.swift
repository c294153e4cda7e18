/// When an attempt must be over.
struct Deadline: Sendable {
  private let instant: ContinuousClock.Instant
  private let seconds: Double

  /// A deadline this many seconds from now.
  init(seconds: Double) {
    self.seconds = seconds
    instant = .now + .seconds(seconds)
  }

  /// Runs `body`; if the deadline passes first, cancels it.
  ///
  /// - Throws: ``RequestChainError`` with code `timedOut`, or what `body` throws.
  func bounding<Value: Sendable>(
    _ operation: String, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(until: instant)
        return nil
      }
      defer { group.cancelAll() }
      if let value = try await group.next(), let value { return value }
      throw RequestChainError(
        .timedOut,
        "\(operation) took longer than \(seconds) s, interceptors included; raise the request timeout, or trace the request "
          + "to see which stage is slow")
    }
  }
}
