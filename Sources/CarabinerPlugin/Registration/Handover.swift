/// Hands over what an instance has learnt and the one that follows it need not learn again, say a token it fetched.
///
/// When a new manifest has an entry of the same name with this plugin, the host makes the new instance, lets the old one ``save()``
/// and the new one ``adopt(_:version:)``, and only then sends calls to the new one. An error of either is no fault: the new instance
/// then works as `init` left it, and the host logs why.
public protocol Handover: Plugin {
  /// Of the bytes ``save()`` makes: a larger one when their layout changes.
  static var stateVersion: UInt32 { get }

  /// The bytes, at most 16 MiB; nil if there is nothing to hand over. Calls may be under way meanwhile.
  ///
  /// - Throws: Anything; its description is what the operator reads.
  func save() throws -> [UInt8]?

  /// Takes over, before the first hook. Of a version that is newer than ``stateVersion`` the plugin is not asked.
  ///
  /// Another version of the plugin may have written the bytes, or something damaged them: believe no length in them.
  ///
  /// - Throws: Anything; the plugin is then as `init` left it.
  func adopt(_ bytes: [UInt8], version: UInt32) throws
}
