internal import CarabinerCurl
internal import Dispatch
internal import Synchronization

/// Runs downloads, a few at a time, for a caller that waits.
enum DownloadQueue {
  /// One download.
  typealias Job<Value: Sendable> = @Sendable () async -> Result<Value, DownloadError>

  /// Runs all jobs and waits for them. It blocks the thread of the caller.
  ///
  /// - Parameter loop: The thread of the jobs. They also write files, so it must not serve clients.
  /// - Returns: The results, in the order of the jobs.
  static func run<Value: Sendable>(
    _ jobs: [Job<Value>], atOnce concurrency: Int, on loop: EventLoop
  ) -> [Result<Value, DownloadError>] {
    let results = Mutex<[Int: Result<Value, DownloadError>]>([:])
    let isDone = DispatchSemaphore(value: 0)
    Task(executorPreference: loop) {
      await withTaskGroup(of: (Int, Result<Value, DownloadError>).self) { group in
        for (index, job) in jobs.enumerated() {
          if index >= concurrency { await group.next().map { done in results.withLock { $0[done.0] = done.1 } } }
          group.addTask { (index, await job()) }
        }
        for await (index, result) in group { results.withLock { $0[index] = result } }
      }
      isDone.signal()
    }
    isDone.wait()
    let found = results.withLock(\.self)
    return jobs.indices.map { found[$0] ?? .failure(DownloadError(.network, "the download did not end")) }
  }
}
