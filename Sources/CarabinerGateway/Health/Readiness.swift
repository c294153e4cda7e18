internal import Synchronization

/// Whether load balancers should send requests to this gateway, for `/readyz`.
///
/// Only events of this process change it. If a service that all nodes use could change it, a fault of that service would remove all nodes.
package final class Readiness: Sendable {
  private struct State {
    var isDrained = false
    var isEnding = false
  }

  private let state = Mutex(State())

  /// A gateway that is ready.
  package init() {}

  /// The reasons why the gateway is not ready, one line each; empty if it is ready.
  package var reasons: [String] {
    let state = state.withLock(\.self)
    return (state.isEnding ? ["the gateway is ending"] : []) + (state.isDrained ? ["an operator drains the gateway"] : [])
  }

  /// Whether the gateway is ending.
  package var isEnding: Bool { state.withLock(\.isEnding) }

  /// Marks the gateway as not ready until ``undoDrain()``. It serves requests as before.
  package func drain() { state.withLock { $0.isDrained = true } }

  /// Ends the effect of ``drain()``.
  ///
  /// - Returns: False if the gateway is ending, so that it stays not ready.
  package func undoDrain() -> Bool {
    state.withLock { state in
      guard !state.isEnding else { return false }
      state.isDrained = false
      return true
    }
  }

  /// Marks the gateway as not ready for the rest of its life.
  package func end() { state.withLock { $0.isEnding = true } }
}
