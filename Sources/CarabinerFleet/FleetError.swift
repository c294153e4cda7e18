/// The reason why a value of a fleet cannot be read, or a change cannot be made.
package struct FleetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// A value in the store is damaged.
    case malformed
    /// The state of the fleet does not permit the change.
    case refused
    /// The keys have changed since they were read.
    case conflict
  }

  /// The kind of failure.
  package let code: Code
  /// The failure and the next step, for the operator.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(message) [fleet \(code.rawValue)]" }
}
