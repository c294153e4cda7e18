internal import Dispatch

/// Runs tasks on a dispatch queue.
///
/// Code of this generation may block its thread, which the threads of tasks must not. It also shows the code the task-locals of the caller.
final class QueueExecutor: TaskExecutor {
  /// Runs code of the user that waits for no particular queue.
  static let background = QueueExecutor(.global())

  private let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
