internal import Carabiner

/// The settings for traces cannot be used.
package struct TracingError: DescribedError, Sendable, Hashable {
  /// The setting, and what it may be.
  package let message: String

  package var description: String { message }
}
