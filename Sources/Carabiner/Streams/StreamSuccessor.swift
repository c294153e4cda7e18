internal import Synchronization

/// The position in a stream that is followed by another.
final class StreamSuccessor<Element: Sendable>: Sendable {
  enum Place {
    /// In the first stream.
    case here
    /// After the first stream, before the second is created.
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
