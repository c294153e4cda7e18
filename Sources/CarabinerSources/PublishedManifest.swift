/// A manifest as a source has it, not yet checked.
package struct PublishedManifest: Sendable, Hashable {
  package let text: [UInt8]
  /// The sidecar with its statement; nil if there is none.
  package let sidecar: [UInt8]?

  package init(text: [UInt8], sidecar: [UInt8]?) { (self.text, self.sidecar) = (text, sidecar) }
}
