internal import Synchronization

/// The stream that goes on where another ended.
final class StreamSuccessor<Element: Sendable>: Sendable {
  private let state = Mutex<PullStream<Element>?>(nil)

  var stream: PullStream<Element>? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
