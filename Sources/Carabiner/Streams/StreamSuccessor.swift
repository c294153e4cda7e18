internal import Synchronization

/// Where a stream that is followed by another is read.
final class StreamSuccessor<Element: Sendable>: Sendable {
  enum Place {
    /// In the first stream.
    case here
    /// Behind the first stream, and the second was not asked for yet.
    case due
    /// In the second stream.
    case there(PullStream<Element>)
  }

  private let state = Mutex(Place.here)

  var place: Place {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
