/// A plugin cannot be tested, without its own fault.
package struct ConformanceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The failure, with the file.
  package let message: String

  package var description: String { message }
}
