/// The state of a subscription.
public enum SubscriptionState: String, Sendable, Hashable, CaseIterable {
  /// The server has not accepted the subscription yet.
  case pending
  /// Results may arrive.
  case active
  /// The connection was lost and is being opened again, or an interceptor requested a retry.
  case reconnecting
  /// No more results arrive: the subscription ended, failed or was cancelled.
  case finished
}

/// The reason why a subscription finished.
public enum SubscriptionEnd: Sendable {
  /// The server ended it.
  case completed
  /// The stream was released, or the task that read it was cancelled.
  case cancelled
  /// It failed with this error, which the reader also received.
  case failed(any Error)
}
