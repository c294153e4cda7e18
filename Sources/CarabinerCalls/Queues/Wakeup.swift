internal import Synchronization

/// Runs a function on the queue of a call after a change. Several changes before it runs cause one run.
final class Wakeup: Sendable {
  private let isDue = Atomic<Bool>(false)
  private let queue: CallQueue
  private let run: @Sendable () -> Void

  init(_ queue: CallQueue, _ run: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.run = run
  }

  func callAsFunction() {
    guard !isDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.add {
      self.isDue.store(false, ordering: .sequentiallyConsistent)
      self.run()
    }
  }
}
