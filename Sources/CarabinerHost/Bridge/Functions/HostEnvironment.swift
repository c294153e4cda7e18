package import Carabiner
internal import Synchronization

/// What the host lends to plugins: time and the network.
package struct HostEnvironment: Sendable {
  /// Runs something later, on a thread that does not block.
  package var schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  /// Sends the requests plugins make of their own.
  package var transport: (any HTTPTransport)?
  /// What the host calls itself.
  package var name = "carabiner"
  /// Its version.
  package var version = ClientAwareness.libraryVersion

  /// An environment with a clock and, if plugins may be granted it, a network.
  package init(
    transport: (any HTTPTransport)?,
    schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  ) {
    self.transport = transport
    self.schedule = schedule
  }

  /// A clock of Swift's own, for hosts without a loop.
  package static let withoutLoop = HostEnvironment(transport: nil) { delay, body in
    Task {
      try? await Task.sleep(for: delay)
      body()
    }
  }

  private static let installed = Mutex(withoutLoop)

  /// The environment of this process; plugins reach it through C functions, which know no other.
  package static var current: HostEnvironment {
    get { installed.withLock { $0 } }
    set { installed.withLock { $0 = newValue } }
  }
}
