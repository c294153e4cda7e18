internal import CarabinerRedis
internal import Synchronization

/// The store of the state that gateways share, for metrics; nil while there is none.
final class CurrentSharedStore: Sendable {
  private let store = Mutex<SharedStore?>(nil)

  var value: SharedStore? { store.withLock(\.self) }

  func set(_ next: SharedStore?) { store.withLock { $0 = next } }
}
