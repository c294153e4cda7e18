internal import CCrossing
internal import CLinux
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Glibc
internal import Logging
internal import Synchronization

/// A worker of one group: a confined process with plugins, which is started again when it ends.
package final class Worker: Sendable {
  /// The state of a worker.
  package enum Condition: Sendable, Hashable {
    case starting
    case up
    /// It starts again at this time of the monotonic clock, in nanoseconds.
    case backingOff(until: UInt64)
    /// It ended too often. It is tried again at this time.
    case open(until: UInt64)
    case stopped
  }

  /// Whether a hook can cross.
  enum Admission {
    case run(WorkerProcess)
    /// The worker starts.
    case wait
    case refuse(WorkerLoss)
  }

  struct State {
    var process: WorkerProcess?
    var condition = Condition.starting
    var generation: UInt32 = 0
    /// The times of its last ends, for the circuit.
    var ends: [UInt64] = []
    var delay = Duration.zero
    var restarts = 0
    var lastReason = ""
    var lastEnd: WorkerStatus.End?
    /// The restarts by the reason of the end before them.
    var restartReasons: [String: Int] = [:]
    /// The processor time of the processes that have ended.
    var spentTime = Duration.zero
    /// The processor time that was reported last.
    var reportedTime = Duration.zero
    var waiting: [(crossing: WorkerCrossing, message: [UInt8])] = []
    /// The number of hooks that have waited and are being sent. Those without room wait again, so their places are not given away.
    var beingSent = 0
    /// The instances, kept until their plugins are destroyed. Weak references would slow down each retain of an instance.
    var instances: [UInt32: WorkerInstance] = [:]
    /// The mapped plugins by the number of their file.
    var descriptions: [Int: WorkerDescription] = [:]
    var isEnding = false
  }

  let settings: WorkerSettings
  let files: [WorkerGroup.File]
  private let user: WorkerOwner?
  private let coolDown: Duration
  private let launcher: String?
  let counters: WorkerCounters
  let state = Mutex(State())

  static let logger = Logger(label: "carabiner.host")
  /// How many calls may wait for a worker (`worker.24d`).
  static let maximumWaiting = 1024
  /// How long a worker may take until it is confined (`worker-input.24`).
  static let readyLimit = Duration.seconds(5)
  /// A worker that has run for this long is started again at once, in nanoseconds.
  static let steadyTime: UInt64 = 60_000_000_000
  /// The longest wait before a restart in nanoseconds, a year: the manifest may name any duration.
  static let longestWait = 365 * 86_400e9
  /// The number of hooks that close the circuit.
  static let provingHooks = 10

  /// Starts a worker.
  ///
  /// - Parameter launcher: The path of the launcher; nil for the one of this host.
  /// - Throws: ``HostError`` if it cannot be started or confined.
  init(
    _ settings: WorkerSettings, _ files: [WorkerGroup.File], user: WorkerOwner?, coolDown: Duration, launcher: String? = nil
  ) throws(HostError) {
    self.settings = settings
    self.files = files
    self.user = user
    self.coolDown = coolDown
    self.launcher = launcher
    counters = WorkerCounters(holding: settings.memoryBytes)
    let process = try launch(generation: 1)
    state.withLock { state in
      state.process = process
      state.generation = 1
      state.condition = .up
    }
    process.owner.withLock { $0 = WeakWorker(value: self) }
    if process.hasEnded { noteEnd(of: process) }
  }

  /// Ends the process. It is not started again.
  func end() {
    let process = state.withLock { state in
      state.isEnding = true
      state.condition = .stopped
      return state.process
    }
    process?.shutDown()
  }

  /// The running process; nil if there is none.
  var process: WorkerProcess? { state.withLock(\.process) }

  package var condition: Condition { state.withLock(\.condition) }

  // MARK: Calls

  /// Whether a hook of a call can cross now.
  func admission(of visit: WorkerVisit) -> Admission {
    let earlier = visit.place.withLock(\.process)
    return state.withLock { state in
      if let earlier, earlier !== state.process || earlier.hasEnded {
        earlier.noteLost(visit)
        // The state of the call ended with its process.
        return .refuse(WorkerLoss(earlier.loss(of: settings.group, .onRequest, isCulprit: false)))
      }
      if let process = state.process, !process.hasEnded { return .run(process) }
      switch state.condition {
      case .starting, .up: return .wait
      case .backingOff(let time) where time <= MonotonicClock.nanoseconds + WorkerInstance.startWait: return .wait
      case .backingOff(let time), .open(let time): return .refuse(unavailable(until: time))
      case .stopped: return .refuse(unavailable(until: 0))
      }
    }
  }

  func unavailable(until time: UInt64) -> WorkerLoss {
    let now = MonotonicClock.nanoseconds
    let left = time > now ? time - now : 1_000_000_000
    var loss = PluginError(
      code: .unavailable, entry: settings.group, hook: "",
      message: "its worker \(settings.group) does not run now; look for the reason of its last end in the log",
      flags: UInt32(WorkerLoss.retryable))
    loss.retryAfter = left
    loss.countsForBreaker = false
    return WorkerLoss(loss)
  }

  /// Queues a hook until the worker has room.
  ///
  /// - Returns: The reason if it cannot wait.
  func queue(_ crossing: WorkerCrossing, _ message: [UInt8]) -> WorkerLoss? {
    let process = state.withLock { state -> WorkerProcess? in
      if let process = state.process, !process.hasEnded, state.waiting.isEmpty { return process }
      return nil
    }
    // The worker came up, or a slot became free, in the meantime.
    if let process, crossing.instance.send(crossing, message, to: process) { return nil }
    let isQueued = state.withLock { state in
      guard state.waiting.count + state.beingSent < Self.maximumWaiting else { return false }
      state.waiting.append((crossing, message))
      return true
    }
    guard isQueued else { return unavailable(until: 0) }
    // The worker may have come up since it was looked for, and has then sent what waited before.
    if process == nil, self.process != nil { sendWaiting(at: MonotonicClock.nanoseconds) }
    // A worker without room may have counted its posts wrongly.
    process?.check()
    _ = crossing.instance.options.environment.schedule(.nanoseconds(Int64(WorkerInstance.startWait))) { [weak self] in
      self?.sendWaiting(at: MonotonicClock.nanoseconds)
    }
    return nil
  }

  /// Sends what waits, as far as there is room, and gives up on what has waited for too long.
  func sendWaiting(at now: UInt64) {
    let (waiting, process) = state.withLock { state in
      defer { state.waiting = [] }
      state.beingSent += state.waiting.count
      return (state.waiting, state.process)
    }
    guard !waiting.isEmpty else { return }
    var left: [(crossing: WorkerCrossing, message: [UInt8])] = []
    for entry in waiting {
      if let process, !process.hasEnded, left.isEmpty, entry.crossing.instance.send(entry.crossing, entry.message, to: process) {
        continue
      }
      if entry.crossing.waitsUntil <= now {
        entry.crossing.lose(unavailable(until: 0).in(entry.crossing.hook, of: entry.crossing.instance.name))
      } else {
        left.append(entry)
      }
    }
    state.withLock { state in
      state.beingSent -= waiting.count
      if !left.isEmpty { state.waiting = left + state.waiting }
    }
  }

  // MARK: Instances

  func add(_ instance: WorkerInstance) throws(HostError) {
    guard let process else {
      throw HostError(.processFailed, step: "worker", path: instance.origin, "the worker \(settings.group) does not run")
    }
    try create(instance, in: process)
    state.withLock { $0.instances[instance.number] = instance }
  }

  func instance(_ number: UInt32) -> WorkerInstance? { state.withLock { $0.instances[number] } }

  func remove(_ instance: WorkerInstance) {
    let process = state.withLock { state in
      state.instances[instance.number] = nil
      return state.process
    }
    process?.fetches.close(instance.number)
    process?.control.post(CCROSSING_DESTROY, instance: instance.number)
  }

  private func create(_ instance: WorkerInstance, in process: WorkerProcess) throws(HostError) {
    let name = instance.options.name
    process.fetches.open(instance.number)
    process.enableLevels(of: instance)
    var message = WorkerMessage()
    message.add(Int(CCROSSING_ENTRY.rawValue), text: name, number: instance.options.generation)
    message.add(Int(CCROSSING_CONFIG.rawValue), text: instance.options.configuration)
    message.add(Int(CCROSSING_ORIGIN.rawValue), text: instance.origin, number: UInt64(instance.options.maximumBufferBytes))
    for grant in instance.options.grants.sorted() { message.add(Int(CCROSSING_GRANT.rawValue), text: grant) }
    let answer = try process.ask(
      CCROSSING_CREATE, argument: UInt64(instance.file) << 16 | UInt64(instance.interceptor), instance: instance.number, message)
    guard let refusal = WorkerRefusal.found(in: answer) else { return }
    let calls = process.control.refusals.map { WorkerCounters.callName($0.number) }
    throw calls.isEmpty ? self.refusal(of: name, refusal, instance) : WorkerRefusal.error(of: calls, at: instance.origin)
  }

  private func refusal(of name: String, _ refusal: WorkerRefusal, _ instance: WorkerInstance) -> HostError {
    let what = refusal.step == "validate" ? "refuses its configuration" : "cannot be created"
    return HostError(
      .configurationRefused, step: "create", path: instance.origin,
      "the plugin of entry \(name) \(what): \(instance.options.redaction(refusal.text)); correct its config in the manifest")
  }

  // MARK: Start

  private func launch(generation: UInt32) throws(HostError) -> WorkerProcess {
    let count = settings.laneCount(processors: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var lanes: [WorkerLane] = []
    for _ in 0...count {
      lanes.append(
        try WorkerLane(
          arena: UInt64(settings.arenaBytes), lanes: UInt32(count), plugins: UInt32(files.count), begin: counters.begin))
    }
    let bell = CLinux_newWakeUp()
    guard bell >= 0 else { throw HostError(system: errno, "an event counter for a worker cannot be made") }
    let process = try WorkerProcess.start(
      settings, user: user, generation: generation, lanes: lanes, bell: bell, plugins: files, counters: counters,
      launcher: launcher)
    do throws(HostError) {
      try process.reader.read(process)
      try process.awaitReady(within: Self.readyLimit)
      Self.warn(about: process.missingLayers, of: settings.group)
      return process
    } catch {
      process.stop(.stopped)
      throw error
    }
  }

  /// The missing layers that are in the log. They are the same for all workers, so each is there once.
  private static let warned = Mutex<Set<String>>([])

  /// Logs the layers of confinement that this system lacks.
  private static func warn(about layers: [String], of group: String) {
    for layer in layers where warned.withLock({ $0.insert(layer).inserted }) {
      logger.warning("workers run without a layer of their confinement: \(layer)", metadata: ["worker": "\(group)"])
    }
  }

  /// Makes the worker map a file.
  ///
  /// - Throws: ``HostError`` if it cannot.
  func load(_ index: Int) throws(HostError) -> WorkerDescription {
    if let known = state.withLock({ $0.descriptions[index] }) { return known }
    guard let process else {
      throw HostError(.processFailed, step: "worker", path: files[index].path, "the worker \(settings.group) does not run")
    }
    let description = try load(index, in: process)
    state.withLock { $0.descriptions[index] = description }
    return description
  }

  private func load(_ index: Int, in process: WorkerProcess) throws(HostError) -> WorkerDescription {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_ORIGIN.rawValue), text: files[index].path)
    message.add(
      Int(CCROSSING_LINE.rawValue), name: Array(HostEnvironment.name.utf8), value: Array(HostEnvironment.version.utf8))
    let answer = try process.ask(CCROSSING_LOAD, argument: UInt64(index), message)
    process.noteMaps()
    do throws(WorkerRefusal) {
      return try WorkerDescription(answer.message)
    } catch {
      throw HostError(
        Self.code(of: error.step), step: error.step, path: files[index].path, "its worker cannot map it: \(error.text)")
    }
  }

  private static func code(of step: String) -> HostError.Code {
    switch step {
    case "entry": .noEntry
    case "table": .badTable
    case "init": .initFailed
    default: .openFailed
    }
  }

  /// Starts the next process, after the last one ended. Runs on the starter's thread.
  func restart() {
    let next = state.withLock { state -> UInt32? in
      guard !state.isEnding else { return nil }
      state.condition = .starting
      state.generation += 1
      return state.generation
    }
    guard let generation = next else { return }
    do throws(HostError) {
      let process = try launch(generation: generation)
      process.owner.withLock { $0 = WeakWorker(value: self) }
      do throws(HostError) {
        for (index, description) in state.withLock(\.descriptions) {
          guard try load(index, in: process) == description else {
            throw process.failure("the plugin registers another table than before")
          }
        }
        for instance in state.withLock({ Array($0.instances.values) }) { try create(instance, in: process) }
      } catch {
        process.stop(.stopped)
        throw error
      }
      state.withLock { state in
        state.process = process
        state.condition = .up
        state.restarts += 1
        state.restartReasons[state.lastEnd?.kind ?? "start", default: 0] += 1
      }
      Self.logger.warning(
        "worker started again; what its plugins remembered is lost",
        metadata: ["worker": "\(settings.group)", "restarts": "\(generation - 1)"])
      // It may have ended before it was the current one.
      if process.hasEnded { return noteEnd(of: process) }
      sendWaiting(at: MonotonicClock.nanoseconds)
    } catch {
      Self.logger.error("worker not started again: \(error)", metadata: ["worker": "\(settings.group)"])
      scheduleRestart(after: nil, WorkerStatus.End(kind: "start", place: "", reason: "\(error)"))
    }
  }

  // MARK: The end of a process

  /// Answers the calls of a process that has ended, and schedules the next one.
  func processEnded(_ process: WorkerProcess, _ lost: [WorkerLane.Lost]) {
    let end = end(of: process)
    for entry in lost { settle(entry, of: process) }
    noteEnd(of: process, end)
  }

  private func noteEnd(of process: WorkerProcess, _ end: WorkerStatus.End? = nil) {
    let isCurrent = state.withLock { state in
      if process.countsOnce() {
        counters.addRefusals(of: process)
        if let end = process.endMetrics { state.spentTime += end.userTime + end.systemTime }
      }
      guard state.process === process else { return false }
      state.process = nil
      return !state.isEnding
    }
    guard isCurrent, process.reason != .stopped else { return }
    scheduleRestart(after: process, end ?? self.end(of: process))
  }

  /// How a process ended, and what is known about the hook that ran.
  private func end(of process: WorkerProcess) -> WorkerStatus.End {
    process.output.drain()
    var end = WorkerStatus.End(kind: process.endKind, place: "", reason: process.reasonText)
    let interrupted = process.interrupted
    let names = state.withLock { state in
      interrupted.map { state.instances[$0.instance]?.name ?? "an entry that is gone" }
    }
    end.hooks = zip(names, interrupted).map { .init(entry: $0, hook: $1.hook.name, request: $1.request) }
    end.place = end.hooks.map { "\($0.entry) \($0.hook)" }.joined(separator: " or ")
    if case .ended(.signal)? = process.reason, let maps = process.maps { end.address = KernelLog.shared.place(in: maps) }
    let unsent = interrupted.flatMap { $0.lines.split(separator: UInt8(ascii: "\n")).map { PrintableText.escaping($0) } }
    let redactions = state.withLock { $0.instances.values.map(\.options.redaction) }
    end.lines = (process.lastLines.texts + unsent).suffix(WorkerStatus.End.maximumLines).map { line in
      redactions.reduce(line) { $1($0) }
    }
    return end
  }

  /// Fails a call of a process that ended, or sends it to the next process.
  func settle(_ lost: WorkerLane.Lost, of process: WorkerProcess) {
    let crossing = lost.crossing
    let isFirst = crossing.visit.place.withLock { $0.process == nil }
    if !lost.hadBegun, isFirst, let message = crossing.takeMessage() {
      crossing.wait(until: MonotonicClock.nanoseconds + WorkerInstance.startWait)
      counters.sentAgain.add()
      if let loss = queue(crossing, message) { crossing.lose(loss.in(crossing.hook, of: crossing.instance.name)) }
      return
    }
    process.noteLost(crossing.visit)
    let (isCulprit, follower) = process.wasRunning(crossing)
    var loss = process.loss(of: follower?.instance.name ?? crossing.instance.name, crossing.hook, isCulprit: isCulprit)
    // It is not a fault of the stage that the chain waits for.
    if follower != nil { loss.countsForBreaker = false }
    crossing.lose(loss, culprit: follower)
  }

  private func scheduleRestart(after process: WorkerProcess?, _ end: WorkerStatus.End) {
    let now = MonotonicClock.nanoseconds
    let due = state.withLock { state -> UInt64 in
      state.lastReason = end.reason
      state.lastEnd = end
      if let process, now - process.startedAt >= Self.steadyTime || process.postedHooks >= Self.provingHooks && state.ends.isEmpty
      {
        state.delay = .zero
      }
      let within = settings.restarts.within.inNanoseconds
      state.ends = state.ends.filter { now - $0 < within } + [now]
      guard state.ends.count < settings.restarts.after else {
        let due = now &+ coolDown.inNanoseconds
        state.condition = .open(until: due)
        return due
      }
      // A random factor: otherwise, groups that end together would start together each time.
      let wait = UInt64(min(Double(state.delay.inNanoseconds) * Double.random(in: 0.8...1.2), Self.longestWait))
      state.delay = state.delay == .zero ? settings.restarts.backoff : min(state.delay * 2, settings.restarts.maximum)
      state.condition = .backingOff(until: now + wait)
      return now + wait
    }
    if process != nil { Self.logger.error("worker ended: \(end.reason)", metadata: metadata(of: end)) }
    if case .open = condition { failWaiting() }
    WorkerStarter.shared.restart(self, at: due)
  }

  private func metadata(of end: WorkerStatus.End) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["worker": "\(settings.group)"]
    if !end.hooks.isEmpty {
      func list(_ text: (WorkerStatus.End.Hook) -> String) -> Logger.MetadataValue {
        "\(end.hooks.map(text).joined(separator: ", "))"
      }
      metadata["entry"] = list(\.entry)
      metadata["hook"] = list(\.hook)
      metadata["request"] = list { "\($0.request)" }
    }
    if end.kind.hasPrefix("SIG") { metadata["signal"] = "\(end.kind)" }
    if let address = end.address { metadata["address"] = "\(address)" }
    if !end.lines.isEmpty { metadata["lines"] = .array(end.lines.map { .string($0) }) }
    return metadata
  }

  private func failWaiting() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for entry in waiting {
      entry.crossing.lose(unavailable(until: 0).in(entry.crossing.hook, of: entry.crossing.instance.name))
    }
  }
}

/// The owner of a process, if there still is one.
struct WeakWorker: Sendable {
  weak let value: Worker?
}
