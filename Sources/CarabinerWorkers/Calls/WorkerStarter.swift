internal import CLinux
internal import CarabinerBridge
internal import Glibc
internal import Logging
internal import Synchronization

/// Starts workers again: at most two at a time, and ten a second for the whole host (`worker.52`).
///
/// Each start has a thread of its own. A worker that takes long does not delay the others.
final class WorkerStarter: Sendable {
  static let shared = WorkerStarter()

  private struct Job: Sendable {
    let due: UInt64
    let worker: WeakWorker
  }

  private struct State {
    var jobs: [Job] = []
    /// When the starts under way began, by their number.
    var starts: [UInt64: UInt64] = [:]
    var count: UInt64 = 0
    var isRunning = false
  }

  /// The least time between two starts, in nanoseconds.
  static let interval: UInt64 = 100_000_000
  static let maximumStarts = 2
  /// A start that takes longer does not count towards ``maximumStarts``: its worker waits for something.
  static let startTime: UInt64 = 1_000_000_000

  private let state = Mutex(State())
  private let wakeUp = CLinux_newWakeUp()
  private static let logger = Logger(label: "carabiner.host")

  /// Starts a worker again at a time of the monotonic clock.
  func restart(_ worker: Worker, at due: UInt64) {
    let isFirst = state.withLock { state in
      state.jobs.append(Job(due: due, worker: WeakWorker(value: worker)))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return ring() }
    do throws(HostError) {
      try HostThread.run("carabiner-start") { self.run() }
    } catch {
      state.withLock { $0.isRunning = false }
      Self.logger.critical("workers cannot be started again: \(error)")
    }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  private func run() {
    var last: UInt64 = 0
    while true {
      let now = MonotonicClock.nanoseconds
      let next = state.withLock { state -> (job: Job?, wait: UInt64) in
        guard let index = state.jobs.indices.min(by: { state.jobs[$0].due < state.jobs[$1].due }) else { return (nil, .max) }
        // The first start after a pause is at once.
        var due = max(state.jobs[index].due, last == 0 ? 0 : last + Self.interval)
        let young = state.starts.values.map { $0 + Self.startTime }.filter { $0 > now }.sorted()
        if young.count >= Self.maximumStarts { due = max(due, young[young.count - Self.maximumStarts]) }
        guard due <= now else { return (nil, due - now) }
        return (state.jobs.remove(at: index), 0)
      }
      if let job = next.job {
        last = now
        start(job, now)
        continue
      }
      var watched = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
      let wait = next.wait == .max ? -1 : Int32(clamping: (next.wait + 999_999) / 1_000_000)
      _ = unsafe poll(&watched, 1, wait)
      var value: UInt64 = 0
      _ = unsafe read(wakeUp, &value, MemoryLayout<UInt64>.size)
    }
  }

  private func start(_ job: Job, _ now: UInt64) {
    let number = state.withLock { state in
      state.count += 1
      state.starts[state.count] = now
      return state.count
    }
    do throws(HostError) {
      try HostThread.run("carabiner-begin") {
        job.worker.value?.restart()
        self.state.withLock { $0.starts[number] = nil }
        self.ring()
      }
    } catch {
      state.withLock { state in
        state.starts[number] = nil
        state.jobs.append(Job(due: now + Self.startTime, worker: job.worker))
      }
      Self.logger.error("a worker is not started again yet: \(error)")
    }
  }
}
