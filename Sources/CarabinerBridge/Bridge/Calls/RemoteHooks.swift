internal import Carabiner

/// The hooks of a call that ran in other processes.
package struct RemoteHooks: ~Copyable {
  /// Why a hook in a worker has no result. It belongs to a hook with the verdict `Verdict.lost`.
  package var loss: PluginError?
  /// The hooks that another process ran ahead of the chain.
  package var ahead: (any HooksAhead)?

  mutating func takeLoss() -> PluginError? {
    defer { loss = nil }
    return loss
  }

  /// Gives up the answers that no hook has taken.
  package mutating func discardAhead() {
    ahead?.discard()
    ahead = nil
  }
}
