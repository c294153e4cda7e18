internal import CarabinerPlugin
internal import Synchronization

/// The token that a request was sent with, and whether the request has had its one refresh.
///
/// A class, because the work of a suspended hook writes to it too.
final class Attempt: CallState {
  private struct State {
    var generation: UInt64 = 0
    var wasRefreshed = false
  }

  private let state = Mutex(State())

  func note(_ generation: UInt64) { state.withLock { $0.generation = generation } }

  /// The generation of the token that the request was sent with; nil if the request has already had its refresh.
  func beginRefresh() -> UInt64? {
    state.withLock { state in
      guard !state.wasRefreshed else { return nil }
      state.wasRefreshed = true
      return state.generation
    }
  }
}
