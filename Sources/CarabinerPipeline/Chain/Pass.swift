internal import Synchronization

/// One run of a chain from its first interceptor. A retry or a cancellation ends it.
final class Pass: Sendable {
  private struct State {
    var isOver = false
    var endings: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Runs `body` when the pass ends early, or at once if it has already ended.
  func atEnd(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isOver { state.endings.append(body) }
      return state.isOver
    }
    if isOver { body() }
  }

  /// Ends the pass. Returns false if it has ended before.
  @discardableResult
  func end() -> Bool {
    let endings: [@Sendable () -> Void]? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      defer { state.endings = [] }
      return state.endings
    }
    guard let endings else { return false }
    for ending in endings { ending() }
    return true
  }
}
