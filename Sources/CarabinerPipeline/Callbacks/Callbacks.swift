public import Dispatch
internal import Synchronization

/// The settings of callbacks.
public enum Callbacks {
  private static let queue = Mutex(DispatchQueue.main)

  /// The queue for the callbacks of calls that name none; the default is the main queue.
  ///
  /// A program that does not serve its main queue gets no callbacks there. It is served by `dispatchMain()`, by a run loop, and while
  /// an `async` main function is suspended.
  public static var defaultQueue: DispatchQueue {
    get { queue.withLock { $0 } }
    set { queue.withLock { $0 = newValue } }
  }
}
