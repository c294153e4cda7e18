/// A manifest in the store, with its signed statement.
package struct FleetManifest: Sendable, Hashable {
  /// The most bytes of a manifest (`fleet.6`): etcd refuses requests above 1.5 MiB.
  package static let maximumBytes = 1 << 20

  package let bytes: [UInt8]
  /// The signed statement; nil if there is none.
  package let release: [UInt8]?
  package let id: CandidateID

  package init(_ bytes: [UInt8], release: [UInt8]? = nil) {
    self.bytes = bytes
    self.release = release
    id = CandidateID(manifest: bytes)
  }
}
