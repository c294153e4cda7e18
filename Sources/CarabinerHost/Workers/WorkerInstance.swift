internal import CCarabiner
internal import CCrossing
internal import CarabinerABI
internal import CarabinerManifest
internal import Synchronization

/// The host's side of an instance in a worker: its hooks cross to the worker, and its worker creates it again after a restart.
final class WorkerInstance: Sendable {
  /// How long the thread of the host waits for an answer itself. A hook in process may hold the thread as long (rule R8).
  static let directWait: UInt64 = 1_000_000
  /// How long a call waits for a worker that starts.
  static let startWait: UInt64 = 1_000_000_000

  /// How long a plugin may read the views of a hook whose token was revoked.
  static let readingTime = Duration.seconds(60)

  let number: UInt32
  let name: String
  private let workers: WorkerGroup
  /// The number of its plugin's file in the group, and of its interceptor there.
  let (file, interceptor): (Int, Int)
  private let description: WorkerDescription.Interceptor
  let threadClass: UInt32
  /// The arguments of `create()`, with which the next worker makes the same instance.
  let options: PluginInstance.Options
  let origin: String
  private let selfID: crb_self

  private static let last = Atomic<UInt32>(0)

  /// Creates the instance in the worker.
  ///
  /// - Throws: ``HostError`` with what the plugin says about its configuration.
  init(
    _ description: WorkerDescription.Interceptor, _ file: Int, _ interceptor: Int, in group: WorkerGroup,
    _ options: PluginInstance.Options, origin: String, selfID: crb_self
  ) throws(HostError) {
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
    name = options.name
    workers = group
    self.description = description
    (self.file, self.interceptor) = (file, interceptor)
    threadClass = description.threadClass
    self.options = options
    self.origin = origin
    self.selfID = selfID
    for worker in workers.workers { try worker.add(self) }
  }

  /// The worker of a call.
  func worker(of visit: WorkerVisit) -> Worker { workers.workers[Int(visit.number % UInt64(workers.workers.count))] }

  /// The first worker, whose instance hands over state.
  var firstWorker: Worker { workers.workers[0] }

  /// The id of its interceptor.
  var id: String { description.id }

  /// Whether the plugin hands over state.
  var hasState: Bool { description.features & UInt32(CCROSSING_HAS_STATE) != 0 }

  // MARK: Pointers in tables

  /// An instance as the tables of the host have it.
  var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

  static func of(_ pointer: UnsafeMutableRawPointer?) -> WorkerInstance? {
    unsafe pointer.map { unsafe Unmanaged<WorkerInstance>.fromOpaque($0).takeUnretainedValue() }
  }

  static func release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer = unsafe pointer else { return }
    let instance = unsafe Unmanaged<WorkerInstance>.fromOpaque(pointer).takeRetainedValue()
    for worker in instance.workers.workers { worker.remove(instance) }
  }

  func drain() { for worker in workers.workers { worker.process?.control.post(CCROSSING_DRAIN, instance: number) } }

  // MARK: Hooks

  /// Runs a hook in the worker.
  func cross(_ hook: Hook, _ kind: StageKind, _ call: crb_call, _ visit: WorkerVisit, _ event: WorkerEvent) -> crb_verdict {
    guard let group = CallTable.shared.find(call) else { return Verdict.fail }
    let worker = worker(of: visit)
    let process: WorkerProcess
    switch worker.admission(of: visit) {
    case .run(let current): process = current
    case .wait: return unsafe wait(hook, kind, group, visit, event)
    case .refuse(let loss): return lose(loss.in(hook, of: name), group)
    }
    let snapshot = unsafe group.look { group, hook, stage in unsafe WorkerSnapshot(group, hook, stage, event, keys: process.keys)
    }
    guard let snapshot = unsafe snapshot else {
      return lose(.fault(name, hook, "another thread is in a function of the host during a hook"), group)
    }
    let size = unsafe snapshot.byteCount
    guard size <= workers.settings.arenaBytes / 2 else {
      return lose(tooLarge(size, hook), group)
    }
    let index = process.lane(for: visit.number, isSerial: threadClass == UInt32(CRB_THREADS_SERIAL), instance: number)
    let lane = process.lanes[index]
    guard let ticket = lane.open(size) else { return unsafe wait(hook, kind, group, visit, event) }
    unsafe snapshot.write(to: lane.memory(ticket))
    visit.place.withLock { $0.lane = index }
    guard lane.post(ticket, UInt16(hook.rawValue), kind: kind.crossing, instance: number, call: visit.number) else {
      lane.close(ticket)
      return unsafe wait(hook, kind, group, visit, event)
    }
    process.noteHook()
    let now = MonotonicClock.nanoseconds
    let end = min(now + Self.directWait, max(group.deadline.load(ordering: .relaxed), now))
    let outcome = lane.wait(ticket, until: end)
    switch outcome {
    case .answered(let answer): return finish(answer, lane, ticket, group, visit, process, hook)
    case .invalid(let problem):
      lane.close(ticket)
      process.stop(.brokeProtocol(problem))
      return lose(process.loss(of: name, hook, isCulprit: true), group)
    case .pending, .notYet: return suspend(lane, ticket, group, visit, process, hook, kind)
    }
  }

  /// Completes a hook that was answered while the host's thread waited.
  private func finish(
    _ answer: WorkerLane.Answer, _ lane: WorkerLane, _ ticket: WorkerLane.Ticket, _ group: GroupCall, _ visit: WorkerVisit,
    _ process: WorkerProcess, _ hook: Hook
  ) -> crb_verdict {
    lane.close(ticket)
    keep(answer, visit, process)
    guard !answer.message.isEmpty else { return Self.verdict(answer) }
    var problem: String?
    let status = CallTable.shared.enter(group.handle) { group, hook, stage in
      problem = unsafe answer.message.withUnsafeBytes { bytes in
        unsafe WorkerEdits(group, hook, stage, of: process).apply(bytes)
      }
      return Status.ok
    }
    guard status == Status.ok, problem == nil else {
      process.stop(.brokeProtocol(problem ?? "an answer came for a hook that is not open"))
      return lose(process.loss(of: name, hook, isCulprit: true), group)
    }
    return group.loss == nil ? Self.verdict(answer) : Verdict.lost
  }

  /// Stages the answer of a suspended hook.
  ///
  /// - Returns: The rule that the answer breaks; nil if it breaks none.
  func apply(
    _ answer: WorkerLane.Answer, to group: GroupCall, _ hook: Hook, _ stage: StageBinding, _ process: WorkerProcess
  ) -> String? {
    unsafe answer.message.withUnsafeBytes { bytes in
      unsafe WorkerEdits(group, hook, stage, of: process).apply(bytes)
    }
  }

  /// Suspends the task: the reader completes the hook.
  private func suspend(
    _ lane: WorkerLane, _ ticket: WorkerLane.Ticket, _ group: GroupCall, _ visit: WorkerVisit, _ process: WorkerProcess,
    _ hook: Hook, _ kind: StageKind
  ) -> crb_verdict {
    let token = HostFunctions.suspend(group.handle)
    let crossing = WorkerCrossing(self, visit, group.handle, token, hook, kind, waitsUntil: .max)
    crossing.move(to: lane, ticket)
    visit.place.withLock { $0.crossing = crossing }
    guard let outcome = lane.announce(ticket, to: crossing) else {
      let lost = WorkerLane.Lost(crossing: crossing, hadBegun: lane.hasBegun(ticket), slot: ticket.slot)
      worker(of: visit).settle(lost, of: process, process.culprits(among: [lost]))
      return Verdict.pending
    }
    process.take(outcome, of: crossing)
    WorkerReader.shared.watch()
    return Verdict.pending
  }

  /// Suspends the task until a worker takes the hook.
  private func wait(
    _ hook: Hook, _ kind: StageKind, _ group: GroupCall, _ visit: WorkerVisit, _ event: WorkerEvent
  ) -> crb_verdict {
    // The keys of the next worker may have other numbers, so what waits has no baggage.
    let keys = worker(of: visit).process?.keys ?? []
    let snapshot = unsafe group.look { group, hook, stage in unsafe WorkerSnapshot(group, hook, stage, event, keys: keys) }
    guard let snapshot = unsafe snapshot, unsafe snapshot.byteCount <= workers.settings.arenaBytes / 2 else {
      return lose(unsafe tooLarge(snapshot?.byteCount ?? 0, hook), group)
    }
    let count = unsafe snapshot.byteCount
    let message = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
      if let base = buffer.baseAddress { unsafe snapshot.write(to: UnsafeMutableRawPointer(base)) }
      used = count
    }
    let token = HostFunctions.suspend(group.handle)
    let crossing = WorkerCrossing(
      self, visit, group.handle, token, hook, kind, waitsUntil: MonotonicClock.nanoseconds + Self.startWait)
    if let loss = worker(of: visit).queue(crossing, message) { crossing.lose(loss.in(hook, of: name)) }
    return Verdict.pending
  }

  /// Posts a hook that waited for a worker.
  ///
  /// - Returns: False if the worker has no room.
  func send(_ crossing: WorkerCrossing, _ message: [UInt8], to process: WorkerProcess) -> Bool {
    let index = process.lane(
      for: crossing.visit.number, isSerial: threadClass == UInt32(CRB_THREADS_SERIAL), instance: number)
    let lane = process.lanes[index]
    guard let ticket = lane.open(message.count) else { return false }
    unsafe message.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { unsafe lane.memory(ticket).copyMemory(from: base, byteCount: bytes.count) }
    }
    crossing.visit.place.withLock { $0.lane = index }
    guard
      lane.post(
        ticket, UInt16(crossing.hook.rawValue), kind: crossing.kind.crossing, instance: number, call: crossing.visit.number)
    else {
      lane.close(ticket)
      return false
    }
    process.noteHook()
    crossing.move(to: lane, ticket)
    guard let outcome = lane.announce(ticket, to: crossing) else {
      lane.close(ticket)
      return false
    }
    process.take(outcome, of: crossing)
    WorkerReader.shared.watch()
    return true
  }

  /// Records whether the worker has memory for the call.
  func keep(_ answer: WorkerLane.Answer, _ visit: WorkerVisit, _ process: WorkerProcess) {
    visit.place.withLock { $0.process = answer.isKept ? process : nil }
    if visit.isShort { release(visit) }
  }

  func lose(_ loss: PluginError, _ group: GroupCall) -> crb_verdict {
    group.loss = loss
    return Verdict.lost
  }

  /// The verdict of an answer. A worker cannot answer with the host's own one.
  static func verdict(_ answer: WorkerLane.Answer) -> crb_verdict {
    answer.verdict == Verdict.lost ? crb_verdict(Int16.max - 1) : answer.verdict
  }

  private func tooLarge(_ size: Int, _ hook: Hook) -> PluginError {
    PluginError(
      code: .failed, entry: name, hook: hook.name,
      message:
        "the message has \(size) bytes, more than half of the worker's arena (\(workers.settings.arenaBytes)); raise isolation: "
        + "{arena} of the entry",
      flags: UInt32(CRB_ERROR_LIMIT))
  }

  // MARK: The end of calls

  func cancel(_ visit: WorkerVisit) {
    worker(of: visit).process?.control.post(CCROSSING_CANCEL, kind: visit.kind.crossing, instance: number, call: visit.number)
  }

  /// The host no longer waits for the pending hook of a call.
  func revoke(_ visit: WorkerVisit) {
    guard let process = worker(of: visit).process else { return }
    let generation = visit.place.withLock { place in
      // The worker keeps the call until it is released.
      place.process = process
      return place.crossing?.ticket.generation ?? 0
    }
    process.control.post(
      CCROSSING_REVOKE, kind: visit.kind.crossing, instance: number, call: visit.number, generation: generation)
  }

  func release(_ visit: WorkerVisit) {
    let place = visit.place.withLock { place in
      defer {
        place.process = nil
        place.crossing = nil
      }
      return place
    }
    if let crossing = place.crossing {
      // Its token was revoked. The plugin may read what the hook was shown for a while (rule R3).
      _ = options.environment.schedule(Self.readingTime) { crossing.leave() }
    }
    guard let process = place.process else { return }
    process.lanes[place.lane].post(CCROSSING_RELEASE, instance: number, call: visit.number)
  }

  /// Writes a line of the plugin to the log.
  func log(_ level: UInt32, _ line: crb_view) { unsafe HostFunctions.log(selfID, level, 0, line) }

  var who: crb_self { selfID }
}

extension StageKind {
  /// The number of the kind in posts.
  var crossing: UInt16 {
    switch self {
    case .graphQL: 0
    case .cache: 1
    case .http: 2
    case .parsing: 3
    }
  }
}
