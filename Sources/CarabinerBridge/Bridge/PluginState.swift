internal import CCarabiner

/// The state that an instance of a plugin hands over to the next one.
package struct PluginState: Sendable, Hashable {
  /// How many bytes there may be.
  package static let maximumBytes = Int(CRB_STATE_MAX_BYTES)

  /// Of the layout of the bytes, as the plugin counts.
  package let version: UInt32
  /// A copy that is the host's.
  package let bytes: [UInt8]

  /// A state with these parts.
  package init(version: UInt32, bytes: [UInt8]) {
    self.version = version
    self.bytes = bytes
  }
}
