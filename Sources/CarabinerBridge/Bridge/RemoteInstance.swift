package import CCarabiner
internal import CarabinerABI

/// The part of an instance that is in another process.
///
/// Its hooks are called through a table of host functions, which forward the calls to the process. This protocol has only the
/// functions that no such table has.
package protocol RemoteInstance: AnyObject, Sendable {
  /// The instance as the functions of its table get it.
  var pointer: UnsafeMutableRawPointer { get }
  /// Whether the plugin hands over state.
  var hasState: Bool { get }

  /// The state of the plugin; nil if it has none.
  ///
  /// - Throws: ``PluginError`` if the plugin refuses, or if its process does not answer.
  func state() throws(PluginError) -> PluginState?

  /// Gives the plugin what its predecessor handed over.
  ///
  /// - Throws: ``PluginError`` if the plugin refuses, or if its process does not answer.
  func adopt(_ state: PluginState) throws(PluginError)

  /// The token of the pending hook of a call was revoked.
  ///
  /// - Parameter state: What the plugin's stage keeps for the call.
  func noteRevoked(_ state: UnsafeMutableRawPointer?)
}

/// The results of hooks of later stages that another process ran in the same crossing. The chain takes each when it reaches the
/// stage.
package protocol HooksAhead: AnyObject {
  /// Gives up the answers that no hook has taken.
  func discard()
}

extension Verdict {
  /// The result of a hook whose worker ended, or that got no worker. `GroupCall.loss` has the reason. It is not a verdict of plugins.
  package static let lost = crb_verdict(Int16.max - 2)
}
