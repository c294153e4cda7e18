internal import CLinux
internal import Glibc
internal import Synchronization

/// One thread that drives libcurl and runs Swift jobs. Tasks that prefer this executor stay on it.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
  // Only the thread of the loop uses the properties below `submissions`, so the runtime need not check each access. Other threads use the
  // mutex.

  /// The jobs and calls of other threads.
  private struct Submissions {
    var jobs: [UnownedJob] = []
    var timers: [EventLoopTimers.Change] = []
    var work: [@Sendable (CurlMulti) -> Void] = []
    var isStopping = false
  }

  /// The number of jobs that run before the loop checks its sockets again.
  private static let jobsPerTurn = 256

  private let submissions = Mutex(Submissions())
  private let isSleeping = Atomic<Bool>(false)
  private let nextTimer = Atomic<UInt64>(1)
  private let finished = Mutex(false)

  private let poll: Poll
  private let thread = Atomic<UInt>(0)
  @safe @exclusivity(unchecked) private var jobs = JobQueue()
  @safe @exclusivity(unchecked) private var timers = EventLoopTimers()
  @safe @exclusivity(unchecked) private var pendingWork: [@Sendable (CurlMulti) -> Void] = []
  /// Whether the exchanges were aborted. Jobs still run, and may ask for more.
  private var isAborted = false
  let multi: CurlMulti

  /// Starts a loop with its own thread.
  ///
  /// - Throws: ``Carabiner/TransportError`` if the process has no more file descriptors or threads.
  public convenience init(maximumConnectionsPerHost: Int = 0) throws {
    try self.init(maximumConnectionsPerHost: maximumConnectionsPerHost, counters: TransportCounters())
  }

  init(maximumConnectionsPerHost: Int, counters: TransportCounters) throws {
    poll = try Poll(counters: counters)
    multi = try CurlMulti(poll: poll, maximumConnectionsPerHost: maximumConnectionsPerHost, counters: counters)
    let box = unsafe Unmanaged.passRetained(self)
    var handle = pthread_t()
    let code = unsafe pthread_create(
      &handle, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
        loop.run()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SystemFailure.noThread(code)
    }
    pthread_detach(handle)
  }

  /// Whether the calling thread is the loop's.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  // MARK: Handing over

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent { return jobs.append(job) }
    let accepted = submissions.withLock { submissions in
      submissions.jobs.append(job)
      return !submissions.isStopping
    }
    // A stopped loop cannot run jobs. The global executor runs the rest.
    if accepted || !isOver { wake() } else { drainAfterStop() }
  }

  /// Runs `body` on the thread of the loop: immediately if this is that thread, otherwise soon.
  ///
  /// - Returns: False if the loop has stopped and does not run it.
  @discardableResult
  func execute(_ body: @escaping @Sendable (CurlMulti) -> Void) -> Bool {
    if isCurrent {
      if isAborted { return false }
      body(multi)
      return true
    }
    let accepted = submissions.withLock { submissions in
      if submissions.isStopping { return false }
      submissions.work.append(body)
      return true
    }
    if accepted { wake() }
    return accepted
  }

  /// Runs `body` on the thread of the loop and waits for its result.
  func run<Value: Sendable>(_ body: @escaping @Sendable (CurlMulti) throws -> Value) async throws -> Value {
    if isCurrent {
      if isAborted { throw SystemFailure.stopped }
      return try body(multi)
    }
    return try await withCheckedThrowingContinuation { continuation in
      let accepted = submissions.withLock { submissions in
        if submissions.isStopping { return false }
        submissions.work.append { multi in continuation.resume(with: Result { try body(multi) }) }
        return true
      }
      if accepted { wake() } else { continuation.resume(throwing: SystemFailure.stopped) }
    }
  }

  /// Runs `body` on the loop's thread once `delay` has passed.
  ///
  /// - Returns: The timer for ``cancel(_:)``.
  @discardableResult
  public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
    let id = nextTimer.add(1, ordering: .relaxed).oldValue
    let timer = EventLoopTimers.Timer(id: id, due: MonotonicTime.after(delay), body: body)
    submissions.withLock { $0.timers.append(.arm(timer)) }
    wake()
    return TimerID(value: id)
  }

  /// Cancels a timer that has not fired. It may be called from any thread.
  public func cancel(_ timer: TimerID) {
    submissions.withLock { $0.timers.append(.cancel(timer.value)) }
    wake()
  }

  /// Ends the thread after the queued jobs have run. Running transfers are aborted.
  public func stop() {
    submissions.withLock { $0.isStopping = true }
    wake()
  }

  private func wake() {
    if isCurrent { return }
    if isSleeping.exchange(false, ordering: .sequentiallyConsistent) { poll.wake() }
  }

  private var isOver: Bool { finished.withLock { $0 } }

  private func drainAfterStop() {
    let left = submissions.withLock { submissions in
      defer { submissions.jobs.removeAll() }
      return submissions.jobs
    }
    for job in left { globalConcurrentExecutor.enqueue(job) }
  }

  // MARK: The thread

  private func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    unsafe CLinux_nameThisThread("carabiner-loop")
    blockSignals()
    while turn() {}
    isAborted = true
    multi.abortAll(SystemFailure.stopped)
    runJobs(limit: .max)
    finished.withLock { $0 = true }
    thread.store(0, ordering: .relaxed)
    drainAfterStop()
    multi.close()
  }

  /// One turn: jobs, timers, sleep, sockets. Returns false when the loop must end.
  private func turn() -> Bool {
    let isStopping = takeQueue()
    runWork()
    runJobs(limit: Self.jobsPerTurn)
    for body in timers.takeDue() { body() }
    if isStopping, jobs.isEmpty { return false }
    // The flag is set before the submissions are checked again: a thread that adds a job after the check sees the flag and wakes the loop.
    isSleeping.store(true, ordering: .sequentiallyConsistent)
    let mustNotSleep =
      !jobs.isEmpty || submissions.withLock { !$0.jobs.isEmpty || !$0.timers.isEmpty || !$0.work.isEmpty || $0.isStopping }
    let timeout = mustNotSleep ? 0 : sleepMilliseconds()
    poll.wait(milliseconds: timeout) {
      isSleeping.store(false, ordering: .relaxed)
    } onReady: { event in
      multi.socketReady(event)
    }
    multi.timeoutIfDue()
    multi.collectFinished()
    multi.endUnwantedStreams()
    return true
  }

  private func takeQueue() -> Bool {
    submissions.withLock { submissions in
      jobs.append(contentsOf: submissions.jobs)
      submissions.jobs.removeAll(keepingCapacity: true)
      for change in submissions.timers { timers.apply(change) }
      submissions.timers.removeAll(keepingCapacity: true)
      for body in submissions.work { pendingWork.append(body) }
      submissions.work.removeAll(keepingCapacity: true)
      return submissions.isStopping
    }
  }

  private func runWork() {
    guard !pendingWork.isEmpty else { return }
    for body in pendingWork { body(multi) }
    pendingWork.removeAll(keepingCapacity: true)
  }

  private func runJobs(limit: Int) {
    var count = 0
    while count < limit, let job = jobs.popFirst() {
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      count += 1
    }
  }

  private func sleepMilliseconds() -> Int32 {
    let curl = multi.millisecondsToTimeout()
    let timer = timers.millisecondsToNext()
    guard let curl else { return timer.map(Int32.init(clamping:)) ?? -1 }
    return Int32(clamping: min(curl, timer ?? curl))
  }

  /// Signals are handled on the other threads of the program.
  private func blockSignals() {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}

/// The identifier of a timer of an ``EventLoop``.
public struct TimerID: Sendable, Hashable {
  let value: UInt64
}
