internal import Dispatch
internal import Foundation

/// Runs tasks on a queue.
///
/// Code of this generation may block its thread, which the threads of tasks must not. It also shows the code the task-locals of the caller.
final class QueueExecutor: TaskExecutor {
  /// Runs code of the user that waits for no particular queue.
  static let background = QueueExecutor(.global())

  private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(_ queue: DispatchQueue) { run = { body in queue.async(execute: body) } }

  init(_ queue: OperationQueue) { run = { body in queue.addOperation(body) } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
