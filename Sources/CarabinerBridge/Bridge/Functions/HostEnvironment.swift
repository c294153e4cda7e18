package import Carabiner

/// The time and the network that the host offers to the plugins of one generation.
///
/// Each instance keeps the environment of the generation it was made in, so the settings of another one never reach it.
package final class HostEnvironment: Sendable {
  /// Cancels scheduled work that has not begun.
  package typealias Cancellation = @Sendable () -> Void
  /// Runs work after a delay. The work must not block its thread.
  package typealias Schedule = @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancellation

  /// The name of the host program, as plugins see it.
  package static let name = "carabiner"
  /// The version of the host program, as plugins see it.
  package static let version = ClientAwareness.libraryVersion

  package let schedule: Schedule
  /// Sends the requests plugins make of their own.
  package let transport: (any HTTPTransport)?

  /// An environment with a clock and, if plugins may be granted it, a network.
  package init(transport: (any HTTPTransport)?, schedule: @escaping Schedule) {
    self.transport = transport
    self.schedule = schedule
  }

  /// An environment without a network, for hosts without an event loop. It uses a clock of Swift.
  package static let withoutLoop = HostEnvironment(transport: nil) { delay, body in
    let task = Task {
      do { try await Task.sleep(for: delay) } catch { return }
      body()
    }
    return { task.cancel() }
  }
}
