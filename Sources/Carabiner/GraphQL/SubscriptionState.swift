/// Where a subscription is.
public enum SubscriptionState: String, Sendable, Hashable, CaseIterable {
  /// The server was not asked yet, or did not take it up.
  case pending
  /// Results may come.
  case active
  /// The connection was lost and is being opened again, or an interceptor asked for another attempt.
  case reconnecting
  /// No more results come: it ended, failed, or was left.
  case finished
}

/// Why a subscription finished.
public enum SubscriptionEnd: Sendable {
  /// The server ended it.
  case completed
  /// Its reader left it, or the task that read it was cancelled.
  case cancelled
  /// It failed with this error, which its reader got too.
  case failed(any Error)
}
