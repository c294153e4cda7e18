package import Carabiner

/// The time and the network that the host offers to the plugins of one generation.
///
/// Each instance keeps the environment of the generation it was made in, so the settings of another one never reach it.
package final class HostEnvironment: Sendable {
  /// Makes sure that what was scheduled and has not begun never runs.
  package typealias Cancellation = @Sendable () -> Void
  /// Runs something later, on a thread that does not block.
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

  /// A clock of Swift's own, for hosts without a loop.
  package static let withoutLoop = HostEnvironment(transport: nil) { delay, body in
    let task = Task {
      do { try await Task.sleep(for: delay) } catch { return }
      body()
    }
    return { task.cancel() }
  }
}
