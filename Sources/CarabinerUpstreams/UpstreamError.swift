internal import Carabiner

/// An upstream cannot be used as the manifest declares it.
package struct UpstreamError: DescribedError, Sendable {
  /// The problem, its place, and what to do about it.
  package let description: String

  init(_ description: String) { self.description = description }
}
