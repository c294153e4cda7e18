internal import Synchronization

/// The settings of a listener for new connections. A reload may replace them while the socket stays open.
final class CurrentListener: Sendable {
  private let settings: Mutex<ListenerSettings>

  init(_ settings: ListenerSettings) { self.settings = Mutex(settings) }

  var value: ListenerSettings { settings.withLock(\.self) }

  func set(_ next: ListenerSettings) { settings.withLock { $0 = next } }
}
