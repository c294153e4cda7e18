internal import Synchronization

/// Passes a request to fetch again to all readers of a watcher.
final class RefetchRequests: Sendable {
  private struct Reader {
    weak var watcher: StoreWatcher?
  }

  private let readers = Mutex<[Reader]>([])

  func add(_ watcher: StoreWatcher) {
    let reader = Reader(watcher: watcher)
    readers.withLock { readers in
      readers.removeAll { $0.watcher == nil }
      readers.append(reader)
    }
  }

  func request(_ policy: CachePolicy) {
    for reader in readers.withLock({ $0 }) { reader.watcher?.requestFetch(policy) }
  }
}
