/// The time by which work must end.
struct Deadline: Sendable {
  private let instant: ContinuousClock.Instant
  /// How long after its making the deadline passes.
  let duration: Duration

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
  /// - Throws: `late`, or what `body` throws.
  func bounding<Value: Sendable>(
    _ late: @autoclosure () -> any Error, _ body: @escaping @Sendable () async throws -> Value
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
