internal import CarabinerPlugin
internal import Synchronization

/// Which token a request was sent with, and whether it has had its one refresh.
///
/// A class, for the work of a suspended hook writes to it, too.
final class Attempt: CallState {
  private struct State {
    var generation: UInt64 = 0
    var wasRefreshed = false
  }

  private let state = Mutex(State())

  func note(_ generation: UInt64) { state.withLock { $0.generation = generation } }

  /// The token the request was sent with, if it may have a newer one; nil if it had its chance.
  func beginRefresh() -> UInt64? {
    state.withLock { state in
      guard !state.wasRefreshed else { return nil }
      state.wasRefreshed = true
      return state.generation
    }
  }
}
