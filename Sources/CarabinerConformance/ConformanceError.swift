/// A plugin cannot be tested, for a reason that is not its fault.
package struct ConformanceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The failure, with the file.
  package let message: String

  package var description: String { message }
}
