/// The reason why a source has no manifest at the moment, or cannot be used at all.
package struct SourceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure. The words are those of the metric `carabiner_source_errors_total`.
  package enum Code: String, Sendable, CaseIterable {
    /// The address or another setting is not valid.
    case invalidSettings
    /// No server can be reached, or none answers in time.
    case unavailable
    /// The login is refused.
    case unauthenticated
    /// The user may not read the manifest.
    case denied
    /// The source answers, and has no manifest.
    case missing
    /// The server refuses the request for another reason.
    case refused
    /// The answer is not valid, or exceeds a limit.
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

  package var description: String { "\(message) [source \(code.rawValue)]" }
}
