/// The time by which work must end.
package struct Deadline: Sendable {
  private let instant: ContinuousClock.Instant
  /// The time from creation to the deadline.
  let duration: Duration

  /// Creates a deadline after a duration.
  package init(after duration: Duration) {
    self.duration = duration
    instant = .now + duration
  }

  /// Creates a deadline after a number of seconds.
  package init(seconds: Double) {
    self.init(after: .bounded(seconds: seconds))
  }

  /// Runs `body`; if the deadline passes first, cancels it.
  ///
  /// - Throws: `late`, or the error of `body`.
  package func bounding<Value: Sendable>(
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
