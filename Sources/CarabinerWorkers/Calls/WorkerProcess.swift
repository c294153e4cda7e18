internal import CCarabiner
internal import CCrossing
internal import CLinux
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import Glibc
internal import Logging
internal import Synchronization

/// One process of a worker: its lanes, its calls under way, and what it asks of the host.
final class WorkerProcess: Sendable {
  /// Why a process has ended or is being ended.
  enum Reason: Sendable, Equatable {
    /// It ended by itself.
    case ended(WorkerEnd.Cause)
    /// A hook ran for longer than `hang`.
    case hung(Hook)
    /// A lane neither ran a hook nor took this one for longer than `hang`, for example because the process is stopped.
    case stalled(Hook)
    /// A signal stopped the process for longer than `hang` while it started.
    case halted
    /// It sent a message that breaks the protocol.
    case brokeProtocol(String)
    /// The host ended it.
    case stopped
  }

  private struct State {
    var reason: Reason?
    var hasEnded = false
    /// The last progress of each lane, and its time.
    var progress: [(last: WorkerLane.Progress?, since: UInt64)] = []
    /// When the counts and states of the lanes were checked last.
    var checkedAt: UInt64 = 0
    var seen = Array(repeating: UInt32(0), count: Int(CCROSSING_CALLBACKS))
    /// The callback that is looked at first, so that each has its turn.
    var nextCallback = 0
    var allowance = RequestAllowance()
    /// Whether callbacks wait for the next turn.
    var hasUnread = false
    /// The baggage keys of the worker, which numbers them from 1.
    var keys: [(name: String, key: UInt32)] = []
    var levels: UInt32 = 0
    /// How often the worker rang in this second, and how often it might have.
    var ringsOfSecond: UInt64 = 0
    var answersOfSecond: UInt64 = 0
    var hooksBefore = 0
    var second: UInt64 = 0
    var refusedKinds: UInt32 = 0
    var missingLayers: [String] = []
    var maps: WorkerMaps?
    var end: WorkerEnd?
    /// The hooks that ran at the end.
    var interrupted: [WorkerLane.Interrupted] = []
    var isCounted = false
  }

  let settings: WorkerSettings
  /// Counts the processes of its group, from 1.
  let generation: UInt32
  /// The first one is that of the control thread.
  let lanes: [WorkerLane]
  let bell: Int32
  let process: StartedWorker
  let reader = WorkerReader()
  let fetches = FetchAccounts()
  /// A pipe to which the worker writes which layers of its confinement are in force.
  let report: Int32
  let startedAt: UInt64
  let counters: WorkerCounters
  /// The last lines that its plugins wrote.
  let lastLines: WorkerLines
  /// Descriptors 1 and 2 of the process.
  let output: WorkerOutput
  /// The control group of the process; nil if it has none.
  let controlGroup: WorkerControlGroup?
  /// The worker whose process this is; nil while it starts.
  let owner = Mutex(WeakWorker(value: nil))
  private let state = Mutex(State())

  private static let logger = Logger(label: "carabiner.host")
  /// How many baggage keys the plugins of one worker may have.
  static let maximumKeys = 1024
  /// More wake-ups in a second without an answer break the protocol (`worker.48`).
  static let maximumRings: UInt64 = 100_000

  init(
    _ settings: WorkerSettings, generation: UInt32, lanes: [WorkerLane], bell: Int32, process: StartedWorker, report: Int32,
    output: Int32, counters: WorkerCounters, controlGroup: WorkerControlGroup?
  ) {
    self.settings = settings
    self.controlGroup = controlGroup
    self.report = report
    self.counters = counters
    lastLines = WorkerLines()
    self.output = WorkerOutput(output, group: settings.group, counters: counters, lastLines: lastLines)
    self.generation = generation
    self.lanes = lanes
    self.bell = bell
    self.process = process
    startedAt = MonotonicClock.nanoseconds
    state.withLock { $0.progress = Array(repeating: (nil, 0), count: lanes.count) }
  }

  deinit {
    close(bell)
    close(report)
  }

  /// The name of its worker.
  var group: String { settings.group }

  var control: WorkerLane { lanes[0] }

  /// A lane for the next hook: that of the processor the thread runs on, which the kernel then switches to directly.
  func lane(for number: UInt64, isSerial: Bool, instance: UInt32) -> Int {
    let count = lanes.count - 1
    guard count > 1 else { return 1 }
    if isSerial { return 1 + Int(instance) % count }
    let processor = CLinux_processor()
    return 1 + (processor >= 0 ? Int(processor) : Int(truncatingIfNeeded: number)) % count
  }

  /// The baggage keys that the worker's plugins have asked for.
  var keys: [(name: String, key: UInt32)] { state.withLock(\.keys) }

  func keyName(_ key: UInt32) -> String? {
    state.withLock { state in
      let index = Int(key) - 1
      return state.keys.indices.contains(index) ? state.keys[index].name : nil
    }
  }

  /// Records the next key of the worker.
  func add(key: UInt32, _ name: String) -> Bool {
    state.withLock { state in
      guard Int(key) == state.keys.count + 1, state.keys.count < Self.maximumKeys, BaggageKeys.isWellFormed(name) else {
        return false
      }
      state.keys.append((name, key))
      return true
    }
  }

  // MARK: The control thread

  /// Runs an operation of the control thread and waits for it.
  ///
  /// - Throws: ``HostError`` if the worker ends, or does not answer in time.
  func ask(
    _ operation: CCrossing_operation, argument: UInt64 = 0, instance: UInt32 = 0, _ message: WorkerMessage = WorkerMessage(),
    within limit: Duration = .seconds(30)
  ) throws(HostError) -> WorkerLane.Answer {
    guard let ticket = control.open(holding: message.bytes) else {
      throw failure("the worker takes no further operations; restart the host or give it more `arena`")
    }
    defer { control.close(ticket) }
    guard control.post(ticket, UInt16(operation.rawValue), instance: instance, call: argument) else {
      throw failure("the worker has ended")
    }
    let end = MonotonicClock.nanoseconds + limit.inNanoseconds
    var halt = WorkerHalt(of: process.process, limit: settings.hang)
    while true {
      let now = MonotonicClock.nanoseconds
      switch control.wait(ticket, until: min(end, now + 10_000_000)) {
      case .answered(let answer):
        guard let problem = unsafe WorkerRecords.problem(in: answer.message) else { return answer }
        throw brokeProtocol(problem)
      case .invalid(let problem): throw brokeProtocol(problem)
      case .pending: throw brokeProtocol("an operation of the control thread is pending")
      case .notYet:
        if hasEnded { throw failure("the worker ended: \(reasonText)") }
        if halt.isOver(at: now) { stop(.halted) }
        if now >= end {
          stop(.brokeProtocol("an operation had no answer within \(limit.components.seconds) s"))
          throw failure("the worker did not answer within \(limit.components.seconds) s")
        }
      }
    }
  }

  private func brokeProtocol(_ problem: String) -> HostError {
    stop(.brokeProtocol(problem))
    return failure("the worker broke the protocol: \(problem)")
  }

  /// Posts an operation of the control thread without waiting for its answer.
  func notify(_ operation: CCrossing_operation, argument: UInt64, instance: UInt32, _ message: WorkerMessage) {
    guard let ticket = control.open(holding: message.bytes) else {
      // Without room for what it waits for, the plugin would wait for ever.
      return stop(.brokeProtocol("the results of its operations do not fit into its arena"))
    }
    notifications.withLock { $0.append(ticket) }
    if !control.post(ticket, UInt16(operation.rawValue), instance: instance, call: argument) { return }
    sweep()
  }

  /// The operations of ``notify(_:argument:instance:_:)`` that are not answered yet.
  private let notifications = Mutex<[WorkerLane.Ticket]>([])

  /// Gives the slots of answered operations back.
  private func sweep() {
    let waiting = notifications.withLock { notifications in
      defer { notifications = [] }
      return notifications
    }
    var left: [WorkerLane.Ticket] = []
    for ticket in waiting {
      switch control.wait(ticket, until: 0) {
      case .answered: control.close(ticket)
      case .notYet: left.append(ticket)
      case .pending, .invalid: return stop(.brokeProtocol("the answer of an operation of the control thread is not valid"))
      }
    }
    if !left.isEmpty { notifications.withLock { $0 += left } }
  }

  /// Sends the log levels that are enabled for an instance to the plugins.
  func enableLevels(of instance: WorkerInstance) {
    let levels = (UInt32(CRB_LOG_TRACE)...UInt32(CRB_LOG_ERROR)).reduce(UInt32(0)) { levels, level in
      HostFunctions.logEnabled(instance.who, level) == 1 ? levels | 1 << level : levels
    }
    let all = state.withLock { state in
      state.levels |= levels
      return state.levels
    }
    for lane in lanes { lane.setLevels(all) }
  }

  /// Waits until the worker is confined.
  func awaitReady(within limit: Duration) throws(HostError) {
    let end = MonotonicClock.nanoseconds + limit.inNanoseconds
    var halt = WorkerHalt(of: process.process, limit: settings.hang)
    while !control.isReady {
      if hasEnded { throw notReady() }
      let now = MonotonicClock.nanoseconds
      if halt.isOver(at: now) { stop(.halted) }
      guard now < end else {
        stop(.stopped)
        throw failure("the worker was not ready within \(limit.components.seconds) s")
      }
      usleep(100)
    }
    // The worker has written its report.
    let missing = readReport().split(separator: "\n").filter { $0.hasPrefix("missing: ") }.map { String($0.dropFirst(9)) }
    state.withLock { $0.missingLayers = missing }
  }

  private func notReady() -> HostError {
    let missing = readReport().split(separator: "\n").filter { $0.hasPrefix("missing: ") || $0.hasPrefix("not started: ") }
    guard !missing.isEmpty else { return failure("the worker ended before it was ready: \(reasonText)") }
    return failure(
      "the worker is not confined: \(missing.joined(separator: "; ")); change the system as advised, or write isolation: "
        + "{confine: available}")
  }

  func failure(_ message: String) -> HostError {
    HostError(.processFailed, step: "worker", path: "", "worker \(group): \(message)")
  }

  // MARK: Counts

  /// The hooks that were posted to this process.
  private let hooks = Atomic<Int>(0)

  func noteCrossing(hooks count: Int) {
    hooks.wrappingAdd(count, ordering: .relaxed)
    counters.crossings.add()
  }

  var postedHooks: Int { hooks.load(ordering: .relaxed) }

  // MARK: The reader

  /// Takes what the worker announced.
  ///
  /// - Parameter rings: How often it rang since the last time.
  func readAnnouncements(rings: UInt64) {
    takeAnswers()
    let (count, problem) = takeCallbacks()
    sweep()
    noteRefusals()
    if let problem { stop(.brokeProtocol(problem)) }
    if isFlood(rings, callbacks: count) {
      stop(.brokeProtocol("it woke the host more than \(Self.maximumRings) times in a second without an answer"))
    }
  }

  /// Answers callbacks, as many as the worker may have in a turn.
  private func takeCallbacks() -> (count: UInt64, problem: String?) {
    var (seen, next, allowance) = state.withLock { ($0.seen, $0.nextCallback, $0.allowance) }
    var count: UInt64 = 0
    allowance.begin(at: MonotonicClock.nanoseconds)
    var problem: String?
    if allowance.hasRoom {
      problem = control.takeCallbacks(&seen, &next) { callback in
        count += 1
        allowance.spend(callback.message.count)
        WorkerServices.answer(callback, of: self)
        return allowance.hasRoom
      }
    }
    state.withLock { state in
      (state.seen, state.nextCallback, state.allowance) = (seen, next, allowance)
      state.hasUnread = !allowance.hasRoom
    }
    return (count, problem)
  }

  /// How long the reader may sleep, in milliseconds; a negative number if it waits for what comes next.
  var nextTurn: Int32 {
    let (hasUnread, isUrgent) = state.withLock { ($0.hasUnread, $0.allowance.isUrgent) }
    if hasUnread { return isUrgent ? 0 : WorkerReader.tick }
    return isBusy ? WorkerReader.tick : -1
  }

  private func takeAnswers() {
    for lane in lanes.dropFirst() {
      lane.takeAnnounced { crossing, _, outcome in take(outcome, of: crossing) }
    }
  }

  /// Whether the worker woke the host far more often than it had something to announce.
  private func isFlood(_ rings: UInt64, callbacks: UInt64) -> Bool {
    state.withLock { state in
      let second = MonotonicClock.nanoseconds / 1_000_000_000
      let hooks = postedHooks
      if second != state.second {
        (state.second, state.ringsOfSecond, state.answersOfSecond, state.hooksBefore) = (second, 0, 0, hooks)
      }
      let (sum, isTooLarge) = state.ringsOfSecond.addingReportingOverflow(rings)
      state.ringsOfSecond = isTooLarge ? .max : sum
      state.answersOfSecond += callbacks
      // A hook may ring twice: when it is pending, and with its answer.
      let due = state.answersOfSecond + 2 * UInt64(hooks - state.hooksBefore + Int(CCROSSING_SLOTS) * lanes.count)
      return state.ringsOfSecond > Self.maximumRings + due
    }
  }

  /// Completes a crossing with its answer.
  func take(_ outcome: WorkerLane.Outcome, of crossing: WorkerCrossing) {
    switch outcome {
    case .answered(let answer):
      let problem = crossing.complete(answer, of: self)
      crossing.leave(began: answer.began)
      if let problem {
        stop(.brokeProtocol(problem))
        noteLost(crossing.visit)
        crossing.lose(loss(of: crossing.instance.name, crossing.hook, isCulprit: true))
      }
    case .invalid(let problem):
      stop(.brokeProtocol(problem))
      noteLost(crossing.visit)
      crossing.leave()
      crossing.lose(loss(of: crossing.instance.name, crossing.hook, isCulprit: true))
    case .pending, .notYet: break
    }
  }

  /// Whether hooks are in the worker.
  var isBusy: Bool { lanes.dropFirst().contains { $0.openSlots > 0 } }

  /// Whether a line may go to the log. More lines in a second are dropped (`worker.48`).
  func mayLog(_ line: crb_view) -> Bool {
    let isAdmitted = unsafe counters.log.admits(min(line.bytes.count, HostFunctions.maximumLogBytes))
    if isAdmitted { unsafe lastLines.add(line.bytes) } else { counters.droppedLines.add() }
    return isAdmitted
  }

  /// Counts a call that fails because the process has ended; each call once.
  func noteLost(_ visit: WorkerVisit) {
    let isFirst = visit.place.withLock { place in
      defer { place.isLost = true }
      return !place.isLost
    }
    if isFirst { counters.lostCalls.add() }
  }

  /// Logs the system calls that were refused for the first time (`worker.62`).
  func noteRefusals() {
    // The worker counts them, so the number is used only if it grows, and as far as it is possible.
    let kinds = min(control.refusedKinds, UInt32(CCROSSING_CALL_NUMBERS) + 1)
    let isNew = state.withLock { state in
      defer { state.refusedKinds = max(state.refusedKinds, kinds) }
      return state.refusedKinds < kinds
    }
    guard isNew else { return }
    noteMaps()
    for refusal in control.refusals where counters.isFirst(refusal.number) {
      var metadata: Logger.Metadata = ["worker": "\(group)", "number": "\(refusal.number)"]
      if let place = maps?.place(of: refusal.address) { metadata["address"] = "\(place)" }
      Self.logger.warning(
        "a plugin called \(WorkerCounters.callName(refusal.number)), which workers refuse; it got an error", metadata: metadata)
    }
  }

  /// The hooks that ran when the process ended.
  var interrupted: [WorkerLane.Interrupted] { state.withLock(\.interrupted) }

  // MARK: Places in libraries

  /// The files that the process has mapped, as last seen.
  var maps: WorkerMaps? { state.withLock(\.maps) }

  /// Looks at the mapped files, by which addresses are named.
  func noteMaps() {
    guard process.process > 0, let maps = WorkerMaps(of: process.process), !process.waitForEnd(within: .zero) else { return }
    state.withLock { $0.maps = maps }
  }

  /// The layers of confinement that this system lacks, with the reasons.
  var missingLayers: [String] { state.withLock(\.missingLayers) }

  /// Whether the counts of this process are still to be added to those of its worker. True at the first call only.
  func countsOnce() -> Bool {
    state.withLock { state in
      defer { state.isCounted = true }
      return !state.isCounted
    }
  }

  /// Its processor time and memory at its end; nil while it runs.
  var endMetrics: WorkerEnd? { state.withLock(\.end) }

  /// Ends the worker if one of its hooks runs for too long, or if it broke a rule of the protocol.
  func look(at now: UInt64) {
    let isDue = state.withLock { state in
      guard now >= state.checkedAt + UInt64(WorkerReader.tick) * 1_000_000 else { return false }
      state.checkedAt = now
      return true
    }
    if isDue {
      // The worker may have answered without a ring.
      takeAnswers()
      check()
      lookAtHooks(now)
    }
    owner.withLock(\.value)?.sendWaiting(at: now)
  }

  /// Ends the worker if its counts or states are not possible.
  func check() {
    if let problem = lanes.lazy.compactMap(\.problem).first { stop(.brokeProtocol(problem)) }
  }

  /// Ends the worker if the hook that a lane has to answer next takes too long.
  private func lookAtHooks(_ now: UInt64) {
    let slow = state.withLock { state -> WorkerLane.Progress? in
      for index in lanes.indices.dropFirst() {
        let progress = lanes[index].progress
        if progress == nil || progress != state.progress[index].last { state.progress[index] = (progress, now) }
        if let progress, now - state.progress[index].since > settings.hang.inNanoseconds { return progress }
      }
      return nil
    }
    if let slow { stop(slow.isNamed ? .hung(slow.hook) : .stalled(slow.hook)) }
  }

  // MARK: The end

  var hasEnded: Bool { state.withLock(\.hasEnded) }

  var reason: Reason? { state.withLock(\.reason) }

  var reasonText: String {
    switch reason {
    case nil: "it runs"
    case .ended(.exit(let status))?: "exit status \(status)"
    case .ended(.signal(let signal))?: unsafe "signal \(signal) (\(String(cString: strsignal(signal))))"
    case .ended(.launcher)?: "the launcher ended"
    case .hung(let hook)?: "\(hook.name) ran for longer than \(settings.hang)"
    case .stalled(let hook)?: "a lane took no hook for longer than \(settings.hang) while \(hook.name) waited"
    case .halted?: "a signal stopped it for longer than \(settings.hang) while it started"
    case .brokeProtocol(let problem)?: "it broke the protocol: \(problem)"
    case .stopped?: "the host ended it"
    }
  }

  /// The reason in one word, for metrics: few values are possible.
  var endKind: String {
    switch reason {
    case .ended(.exit)?: "exit"
    case .ended(.signal(let signal))?: Self.name(ofSignal: signal)
    case .ended(.launcher)?: "launcher"
    case .hung?, .stalled?, .halted?: "hang"
    case .brokeProtocol?: "protocol"
    case .stopped?, nil: "stopped"
    }
  }

  private static func name(ofSignal signal: Int32) -> String {
    let names: [Int32: String] = [
      SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL",
      SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGSYS: "SIGSYS",
    ]
    return names[signal] ?? "SIG\(signal)"
  }

  /// Kills the process. Its calls are answered when it has ended.
  func stop(_ reason: Reason) {
    state.withLock { if $0.reason == nil { $0.reason = reason } }
    process.signal(SIGKILL)
  }

  /// The process has ended.
  ///
  /// - Returns: The crossings that wait for it; nil if this is known already.
  func end(_ end: WorkerEnd) -> [WorkerLane.Lost]? {
    let isFirst = state.withLock { state in
      defer { state.hasEnded = true }
      if state.reason == nil { state.reason = .ended(end.cause) }
      state.end = end
      return !state.hasEnded
    }
    guard isFirst else { return nil }
    reader.end()
    fetches.closeAll()
    // Once a lane has ended, its calls give their slots back.
    let interrupted = lanes.dropFirst().compactMap(\.interrupted)
    state.withLock { $0.interrupted = interrupted }
    return lanes.flatMap { $0.end() }
  }

  /// Whether a hook ran when the process ended: that of a crossing, or of a stage that follows in it.
  func wasRunning(_ crossing: WorkerCrossing) -> (isCulprit: Bool, follower: WorkerRow.Stage?) {
    let ticket = crossing.ticket
    for lane in lanes.dropFirst() where crossing.isIn(lane) {
      guard let running = lane.running else { return (false, nil) }
      if running.slot == ticket.slot, running.generation == ticket.generation { return (true, nil) }
      let follower = crossing.row?.stage(of: running.slot, running.generation)
      return (follower != nil, follower)
    }
    return (false, nil)
  }

  /// The error of a call that failed because this process ended.
  func loss(of entry: String, _ hook: Hook, isCulprit: Bool) -> PluginError {
    let code: PluginError.Code =
      switch reason {
      case .hung?, .stalled?, .halted?: .hung
      case .brokeProtocol?: .brokeProtocol
      case .ended?, .stopped?, nil: .crashed
      }
    var flags = UInt32(CRB_ERROR_PLUGIN_FAULT)
    if code == .hung { flags |= UInt32(CRB_ERROR_TIMEOUT) }
    if !isCulprit { flags |= UInt32(CRB_ERROR_RETRYABLE) }
    let what = isCulprit ? "its worker \(group) ended during this call" : "its worker \(group) ended during another call"
    var loss = PluginError(
      code: code, entry: entry, hook: hook.name,
      message: "\(what) (\(reasonText)); look for the worker and its restarts in the log", flags: flags
    )
    loss.countsForBreaker = isCulprit
    return loss
  }
}
