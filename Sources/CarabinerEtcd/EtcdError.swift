/// The reason why a request to etcd or a watch failed.
package struct EtcdError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// The address or another setting is not valid.
    case invalidSettings
    /// No member can be reached, none answers in time, or the cluster has no leader.
    case unavailable
    /// A transaction was sent, and its answer was lost. It may have been made.
    case uncertain
    /// The login is refused, or the token is not valid.
    case unauthenticated
    /// The user may not do this.
    case denied
    /// The revision is older than the oldest one that etcd keeps.
    case compacted
    /// etcd refuses the request for another reason.
    case refused
    /// An answer is not one of etcd, or exceeds a limit.
    case malformed
  }

  /// The kind of failure.
  package let code: Code
  /// The failure and the next step, for the operator.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(message) [etcd \(code.rawValue)]" }
}
