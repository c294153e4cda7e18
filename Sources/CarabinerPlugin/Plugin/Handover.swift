/// Passes state from an instance to its successor at a reload, for example a token it fetched.
///
/// If a new manifest has an entry of the same name with this plugin, the host creates the new instance, calls ``save()`` on the
/// old one and ``adopt(_:version:)`` on the new one, and only then sends calls to the new one. An error of either is not a
/// fault: the new instance keeps the state from `init`, and the host logs the reason.
public protocol Handover: Plugin {
  /// The version of the layout of the bytes that ``save()`` returns. Increase it with each change of the layout.
  static var stateVersion: UInt32 { get }

  /// The state, at most 16 MiB; nil if there is none. Calls may be in flight at the same time.
  ///
  /// - Throws: Any error. Its description is logged for the operator.
  func save() throws -> [UInt8]?

  /// Adopts the state, before the first hook. The host does not offer state with a version above ``stateVersion``.
  ///
  /// Another version of the plugin may have written the bytes, and they may be damaged: validate all lengths in them.
  ///
  /// - Throws: Any error. The plugin must then still be as `init` left it.
  func adopt(_ bytes: [UInt8], version: UInt32) throws
}
