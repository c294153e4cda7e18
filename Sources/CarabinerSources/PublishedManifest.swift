/// A manifest as a source has it, not yet checked.
package struct PublishedManifest: Sendable, Hashable {
  package let text: [UInt8]
  /// The sidecar with its statement; nil if there is none.
  package let sidecar: [UInt8]?
  /// Whether it is the candidate of a fleet's roll-out. Such a manifest is not kept as the last good one, so that the node can go back.
  package let isCandidate: Bool

  package init(text: [UInt8], sidecar: [UInt8]?, isCandidate: Bool = false) {
    (self.text, self.sidecar, self.isCandidate) = (text, sidecar, isCandidate)
  }

  /// Whether another one has the same text and the same statement.
  package func isSame(as other: Self) -> Bool { text == other.text && sidecar == other.sidecar }
}
