internal import CLinux
internal import Glibc
internal import Logging
internal import Synchronization

/// The one thread that reads what workers announce: answers for suspended tasks, callbacks, and the lines that plugins print.
@safe final class WorkerReader: @unchecked Sendable {
  // `poll` and `wakeUp` are descriptors that are never closed; `state` guards the rest.

  static let shared = WorkerReader()

  private struct State {
    var bells: [Int32: WorkerProcess] = [:]
    var outputs: [Int32: WorkerOutput] = [:]
    var isRunning = false
  }

  private let poll: Int32
  private let wakeUp = CLinux_newWakeUp()
  /// Whether the thread sleeps until something is announced, because no hook is under way.
  private let sleepsLong = Atomic<Bool>(false)
  private let state = Mutex(State())
  /// How often hooks that run are looked at, in milliseconds.
  static let tick: Int32 = 20
  private static let logger = Logger(label: "carabiner.host")

  private init() {
    poll = CLinux_newPoll()
    CLinux_watch(poll, wakeUp, CLinux_READABLE)
  }

  /// Has the thread look at the hooks that run: one takes long.
  func watch() {
    guard sleepsLong.exchange(false, ordering: .sequentiallyConsistent) else { return }
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  /// Reads what a worker announces, until ``forget(_:)``.
  func add(_ process: WorkerProcess) throws(HostError) {
    let output = process.output
    guard poll >= 0 else { throw HostError(system: EMFILE, "a poll for workers cannot be made; raise the limit of open files") }
    let isFirst = state.withLock { state in
      state.bells[process.bell] = process
      state.outputs[output.descriptor] = output
      defer { state.isRunning = true }
      return !state.isRunning
    }
    CLinux_watch(poll, process.bell, CLinux_READABLE)
    CLinux_watch(poll, output.descriptor, CLinux_READABLE)
    if isFirst { try HostThread.run("carabiner-reads") { self.run() } }
  }

  /// Stops reading from a worker that ended.
  func forget(_ process: WorkerProcess) {
    CLinux_forget(poll, process.bell)
    _ = state.withLock { $0.bells.removeValue(forKey: process.bell) }
  }

  private func run() {
    var events = unsafe Array(repeating: epoll_event(), count: 64)
    while true {
      // A hook that is suspended between the look and the sleep finds the flag, and wakes the thread.
      sleepsLong.store(true, ordering: .sequentiallyConsistent)
      let isBusy = state.withLock { Array($0.bells.values) }.contains { $0.isBusy }
      if isBusy { sleepsLong.store(false, ordering: .relaxed) }
      let count = unsafe epoll_wait(poll, &events, Int32(events.count), isBusy ? Self.tick : -1)
      for index in 0..<max(Int(count), 0) {
        let descriptor = unsafe withUnsafePointer(to: events[index]) { unsafe CLinux_descriptor($0) }
        if descriptor == wakeUp {
          var value: UInt64 = 0
          _ = unsafe read(wakeUp, &value, MemoryLayout<UInt64>.size)
        }
        let (process, output) = state.withLock { ($0.bells[descriptor], $0.outputs[descriptor]) }
        if let process {
          var value: UInt64 = 0
          _ = unsafe read(descriptor, &value, MemoryLayout<UInt64>.size)
          process.readAnnouncements(rings: value)
        }
        if let output, !output.read() {
          CLinux_forget(poll, descriptor)
          _ = state.withLock { $0.outputs.removeValue(forKey: descriptor) }
          output.close()
        }
      }
      let now = MonotonicClock.nanoseconds
      for process in state.withLock({ Array($0.bells.values) }) { process.look(at: now) }
    }
  }
}
