/// The list of revocations as a source has it, not yet checked.
package enum PublishedRevocations: Sendable, Hashable {
  /// The source has not answered yet.
  case unknown
  /// There is no list.
  case absent
  /// A list, and the sidecar with its statement; nil if there is none.
  case list([UInt8], sidecar: [UInt8]?)
}
