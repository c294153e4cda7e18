internal import Synchronization

/// How a listener serves the connections that begin now. A reload may change it while the socket stays.
final class CurrentListener: Sendable {
  private let settings: Mutex<ListenerSettings>

  init(_ settings: ListenerSettings) { self.settings = Mutex(settings) }

  var value: ListenerSettings { settings.withLock(\.self) }

  func set(_ next: ListenerSettings) { settings.withLock { $0 = next } }
}
