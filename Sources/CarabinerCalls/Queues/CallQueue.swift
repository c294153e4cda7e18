internal import Dispatch
internal import Synchronization

/// Runs pieces of one call one at a time, in the order in which they were added, on a thread of the library.
///
/// A task runs them, so code of the user sees the task-locals that were bound where the call was made.
final class CallQueue: Sendable {
  private let jobs = Jobs()

  init() {
    Task(executorPreference: BlockingExecutor.shared) { [jobs] in
      while let job = await jobs.next() { job() }
    }
  }

  deinit { jobs.finish() }

  /// Adds a piece at the end.
  func add(_ job: @escaping @Sendable () -> Void) { jobs.add(job) }
}

private final class Jobs: Sendable {
  private typealias Job = @Sendable () -> Void

  private struct State {
    var waiting = Queue<Job>()
    var worker: CheckedContinuation<Void, Never>?
    var isFinished = false

    mutating func takeWorker() -> CheckedContinuation<Void, Never>? {
      defer { worker = nil }
      return worker
    }
  }

  private let state = Mutex(State())

  func add(_ job: @escaping @Sendable () -> Void) {
    let worker = state.withLock { state in
      state.waiting.add(job)
      return state.takeWorker()
    }
    worker?.resume()
  }

  func finish() {
    let worker = state.withLock { state in
      state.isFinished = true
      return state.takeWorker()
    }
    worker?.resume()
  }

  /// The next piece; nil when there will be none.
  func next() async -> (@Sendable () -> Void)? {
    while true {
      let (job, isOver) = state.withLock { state in
        let job = state.waiting.take()
        return (job, job == nil && state.isFinished)
      }
      if job != nil || isOver { return job }
      await withCheckedContinuation { worker in
        let mustWait = state.withLock { state in
          guard state.waiting.isEmpty, !state.isFinished else { return false }
          state.worker = worker
          return true
        }
        if !mustWait { worker.resume() }
      }
    }
  }
}

/// Runs tasks on threads that code of the user may block.
final class BlockingExecutor: TaskExecutor {
  static let shared = BlockingExecutor()

  private let queue = DispatchQueue(label: "carabiner.connect", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
