internal import CLinux
internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerManifest
package import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The state of one worker, as reports and metrics show it.
package struct WorkerStatus: Sendable, Hashable {
  /// How the last process of a worker ended.
  package struct End: Sendable, Hashable {
    /// A hook that ran at the end.
    package struct Hook: Sendable, Hashable {
      package let entry: String
      package let hook: String
      /// The number of the request.
      package let request: UInt64
    }

    static let maximumLines = 5

    /// The reason in one word: the name of a signal, `exit`, `hang`, `protocol`, `launcher`, or `start` if no process came up.
    package let kind: String
    /// The entries and hooks that ran, as text; empty if none did.
    package var place: String
    /// The reason as a sentence.
    package let reason: String
    package let time = Date()
    package var hooks: [Hook] = []
    /// The place of the instruction that got the signal, as `hmac.so+0x12c7`; nil if the host cannot read it.
    package var address: String?
    /// The last lines that the plugins wrote.
    package var lines: [String] = []

    init(kind: String, place: String, reason: String) {
      self.kind = kind
      self.place = place
      self.reason = reason
    }
  }

  /// Counts since the worker was made, over all its processes.
  package struct Counts: Sendable, Hashable {
    /// Posts of hooks, and hooks that were answered.
    package let (crossings, hooks): (Int, Int)
    /// Posts that went to the next process, because theirs ended before it began them.
    package let sentAgain: Int
    /// Calls that failed because a process had ended.
    package let lostCalls: Int
    /// Requests to the host, by kind.
    package let upcalls: [String: Int]
    package let droppedLines: Int
    /// The times from a post until its lane took it.
    package let begin: WorkerWaits.Summary
    /// Restarts by the reason of the end before them.
    package let restarts: [String: Int]
    /// System calls that were refused, by name.
    package let refusedCalls: [String: Int]
  }

  /// The name of the group.
  package let group: String
  /// The entries with an instance in it, in the order of their creation.
  package let entries: [String]
  package let condition: Worker.Condition
  /// How long the process has run; nil if none runs.
  package let uptime: Duration?
  /// How long it waits before the next start; nil unless it does.
  package let timeLeft: Duration?
  /// The number of the process, for messages only; nil if none runs.
  package let process: Int32?
  /// Counts the processes of the worker, from 1.
  package let generation: Int
  /// How many threads call hooks.
  package let lanes: Int
  /// How many hooks are in the worker, and how many wait for it.
  package let (underWay, waiting): (Int, Int)
  /// The memory that counts towards the limit, in bytes; nil if it cannot be read.
  package let memoryBytes: Int?
  /// The limit of the memory, in bytes.
  package let memoryLimit: Int
  /// The processor time of all processes of the worker.
  package let processorTime: Duration
  /// How often it was started again.
  package let restarts: Int
  /// Why the last process ended; empty if none has.
  package let lastReason: String
  /// How the last process ended; nil if none has.
  package let lastEnd: End?
  /// The layers of confinement that this system lacks, each with the reason.
  package let missingLayers: [String]
  package let counts: Counts
}

extension Worker {
  /// The present state of the worker.
  package var status: WorkerStatus {
    // Its figures are read without the lock, which calls need.
    let process = process
    let metrics = process.flatMap { $0.metrics }
    let missingLayers = process?.missingLayers ?? []
    let now = MonotonicClock.nanoseconds
    return state.withLock { state in
      let lanes = state.process?.lanes.dropFirst() ?? []
      let isSame = state.process === process
      let due: UInt64? =
        switch state.condition {
        case .backingOff(let time), .open(let time): time
        case .starting, .up, .stopped: nil
        }
      let counts = WorkerStatus.Counts(
        crossings: counters.crossings.value, hooks: counters.hooks.value, sentAgain: counters.sentAgain.value,
        lostCalls: counters.lostCalls.value, upcalls: Dictionary(counters.upcallCounts, uniquingKeysWith: +),
        droppedLines: counters.droppedLines.value, begin: counters.begin.summary, restarts: state.restartReasons,
        refusedCalls: counters.refusedCalls(with: state.process))
      // A process that has just ended has no figures for a moment, and totals must not fall.
      state.reportedTime = max(state.reportedTime, state.spentTime + (isSame ? metrics?.processorTime ?? .zero : .zero))
      return WorkerStatus(
        group: settings.group,
        entries: state.instances.sorted { $0.key < $1.key }.map(\.value.name), condition: state.condition,
        uptime: state.process.map { .nanoseconds(Int64(clamping: now > $0.startedAt ? now - $0.startedAt : 0)) },
        timeLeft: due.map { .nanoseconds(Int64(clamping: $0 > now ? $0 - now : 0)) },
        process: state.process.map(\.process.process), generation: Int(state.generation), lanes: lanes.count,
        underWay: lanes.reduce(0) { $0 + $1.openSlots }, waiting: state.waiting.count,
        memoryBytes: isSame ? metrics?.memoryBytes : nil, memoryLimit: settings.memoryBytes,
        processorTime: state.reportedTime, restarts: state.restarts,
        lastReason: state.lastReason, lastEnd: state.lastEnd, missingLayers: missingLayers, counts: counts)
    }
  }
}

extension WorkerProcess {
  /// The memory that counts towards the limit, and the processor time so far; nil if the process has ended.
  fileprivate var metrics: (memoryBytes: Int?, processorTime: Duration?)? {
    let number = process.process
    guard number > 0 else { return nil }
    // The private writable memory, which RLIMIT_DATA limits.
    let lines = (try? BoundedFile.text(at: "/proc/\(number)/status", maximumBytes: 64 << 10))?.split(separator: "\n") ?? []
    let memory = lines.first { $0.hasPrefix("VmData:") }?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    var (clock, time) = (clockid_t(), timespec())
    let hasTime = unsafe clock_getcpuclockid(number, &clock) == 0 && clock_gettime(clock, &time) == 0
    // Another process may have its number by now.
    guard !process.waitForEnd(within: .zero) else { return nil }
    return (memory.map { $0 * 1024 }, hasTime ? .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) : nil)
  }
}
