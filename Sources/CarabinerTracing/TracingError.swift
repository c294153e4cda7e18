/// The settings for traces cannot be used.
package struct TracingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The setting, and what it may be.
  package let message: String

  package var description: String { message }
}
