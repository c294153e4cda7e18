internal import Synchronization

/// Runs a function on a lane after a change. Several changes before it runs cause one run.
final class Wakeup: Sendable {
  private let isDue = Atomic<Bool>(false)
  private let lane: CallLane
  private let run: @Sendable () -> Void

  init(_ lane: CallLane, _ run: @escaping @Sendable () -> Void) {
    self.lane = lane
    self.run = run
  }

  func callAsFunction() {
    guard !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    lane.add {
      self.isDue.store(false, ordering: .sequentiallyConsistent)
      self.run()
    }
  }
}
