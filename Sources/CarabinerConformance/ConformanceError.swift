/// A plugin cannot be tested, for a reason that is not its fault.
package struct ConformanceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The part that has to be corrected.
  package enum Cause: Sendable, Hashable {
    /// The path of the plugin.
    case path
    /// This system, or the harness.
    case harness
  }

  /// The failure, with the file.
  package let message: String
  package var cause = Cause.harness

  package var description: String { message }
}
