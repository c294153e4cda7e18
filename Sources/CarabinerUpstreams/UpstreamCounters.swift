internal import CarabinerManifest
internal import Synchronization

/// The counters of an upstream. Reloads do not reset them.
package final class UpstreamCounters: Sendable {
  package struct Values: Sendable {
    /// The number of requests by label of the endpoint, then by result.
    package var requests: [String: [String: Int]] = [:]
    package var ejections: [String: Int] = [:]
    /// The number of retries by reason, then by outcome.
    package var retries: [String: [String: Int]] = [:]
    package var goodChecks = 0
    package var failedChecks = 0
    package var failedLookups = 0
  }

  private let state = Mutex(Values())

  package var values: Values { state.withLock(\.self) }

  func ended(_ outcome: AttemptOutcome, at label: String) {
    state.withLock { $0.requests[label, default: [:]][outcome.word, default: 0] += 1 }
  }

  func ejected(_ label: String) { state.withLock { $0.ejections[label, default: 0] += 1 } }

  func sent(_ cause: RetryRule.Cause) { count(cause, "sent") }

  func denied(_ cause: RetryRule.Cause) { count(cause, "denied") }

  /// Counts a request that got a good response after a retry.
  ///
  /// - Parameter cause: The reason of its last retry.
  func succeeded(_ cause: RetryRule.Cause) { count(cause, "succeeded") }

  private func count(_ cause: RetryRule.Cause, _ outcome: String) {
    state.withLock { $0.retries[cause.rawValue, default: [:]][outcome, default: 0] += 1 }
  }

  func checked(_ succeeded: Bool) {
    state.withLock { if succeeded { $0.goodChecks += 1 } else { $0.failedChecks += 1 } }
  }

  func lookupFailed() { state.withLock { $0.failedLookups += 1 } }
}
