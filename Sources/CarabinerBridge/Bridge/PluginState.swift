internal import CCarabiner

/// The state that an instance of a plugin hands over to the next one.
package struct PluginState: Sendable, Hashable {
  /// The maximum number of bytes.
  package static let maximumBytes = Int(CRB_STATE_MAX_BYTES)

  /// The version of the layout of the bytes, which the plugin defines.
  package let version: UInt32
  /// The bytes, copied to memory of the host.
  package let bytes: [UInt8]

  /// A state with these parts.
  package init(version: UInt32, bytes: [UInt8]) {
    self.version = version
    self.bytes = bytes
  }
}
