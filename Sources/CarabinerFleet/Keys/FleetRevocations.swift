/// The list of revocations of a fleet as the store has it, not yet checked.
package struct FleetRevocations: Sendable, Hashable {
  package let bytes: [UInt8]
  /// The signed statement; nil if there is none.
  package let release: [UInt8]?

  package init(_ bytes: [UInt8], release: [UInt8]?) {
    self.bytes = bytes
    self.release = release
  }
}
