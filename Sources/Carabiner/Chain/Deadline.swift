/// When an attempt must be over.
struct Deadline: Sendable {
  private let instant: ContinuousClock.Instant
  private let duration: Duration

  /// A deadline this much later than now.
  init(after duration: Duration) {
    self.duration = duration
    instant = .now + duration
  }

  /// A deadline this many seconds from now.
  init(seconds: Double) {
    self.init(after: .seconds(seconds))
  }

  /// Runs `body`; if the deadline passes first, cancels it.
  ///
  /// - Throws: ``RequestChainError`` with code `timedOut`, or what `body` throws.
  func bounding<Value: Sendable>(
    _ operation: String, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await bounding(
      RequestChainError(
        .timedOut,
        "\(operation) took longer than \(duration / .seconds(1)) s, interceptors included; raise the request timeout, or trace the request "
          + "to see which stage is slow"),
      body)
  }

  /// Runs `body`; if the deadline passes first, cancels it.
  ///
  /// - Throws: `late`, or what `body` throws.
  func bounding<Value: Sendable>(
    _ late: @autoclosure () -> RequestChainError, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(until: instant)
        return nil
      }
      defer { group.cancelAll() }
      if let value = try await group.next(), let value { return value }
      throw late()
    }
  }
}
