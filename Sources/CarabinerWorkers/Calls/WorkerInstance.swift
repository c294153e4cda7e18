package import CCarabiner
internal import CCrossing
internal import CarabinerABI
package import CarabinerBridge
internal import CarabinerManifest
internal import Synchronization

/// The host's side of an instance in a worker: its hooks cross to the worker, and its worker creates it again after a restart.
package final class WorkerInstance: RemoteInstance {
  /// How long the thread of the host waits for an answer itself. A hook in process may hold the thread as long (rule R8).
  static let directWait: UInt64 = 1_000_000
  /// A longer answer is copied and staged by the reader of its process, as that may take longer than a hook may hold the thread.
  static let directBytes: UInt32 = 256 << 10
  /// How long a call waits for a worker that starts.
  static let startWait: UInt64 = 1_000_000_000

  /// The maximum number of stages that follow in the same crossing.
  static let maximumFollowers = 63

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
  /// - Throws: ``HostError`` with the plugin's message about its configuration.
  package init(
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
    do throws(HostError) {
      for worker in workers.workers { try worker.add(self) }
    } catch {
      for worker in workers.workers { worker.remove(self) }
      throw error
    }
  }

  /// The worker of a call.
  func worker(of visit: WorkerVisit) -> Worker { workers.workers[Int(visit.home % UInt64(workers.workers.count))] }

  /// The first worker, whose instance hands over state.
  var firstWorker: Worker { workers.workers[0] }

  /// The id of its interceptor.
  var id: String { description.id }

  /// Whether the plugin hands over state.
  package var hasState: Bool { description.features & UInt32(CCROSSING_HAS_STATE) != 0 }

  // MARK: Pointers in tables

  /// An instance as the tables of the host have it.
  package var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

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

  /// Whether it runs in the workers of a group.
  func isIn(_ group: WorkerGroup) -> Bool { workers === group }

  /// Runs a hook in the worker, unless an earlier crossing has done that.
  ///
  /// - Parameter visit: Nil for a stage without a state.
  func run(_ hook: Hook, _ kind: StageKind, _ group: GroupCall, _ visit: WorkerVisit?, _ event: WorkerEvent) -> crb_verdict {
    if let row = group.row {
      if let stage = row.take(hook, group.openStage), let verdict = take(stage, of: row, kind, group) { return verdict }
      if row.isTaken || row.hook != hook { group.remote.discardAhead() }
    }
    let visit = visit ?? WorkerVisit(kind, home: group.requestID.load(ordering: .relaxed), isShort: true)
    return unsafe cross(hook, kind, group, visit, event)
  }

  /// Takes the answer of a hook that ran ahead of the chain.
  ///
  /// - Returns: Nil if it did not run.
  private func take(_ stage: WorkerRow.Stage, of row: WorkerRow, _ kind: StageKind, _ group: GroupCall) -> crb_verdict? {
    if row.isTaken { group.remote.ahead = nil }
    let (lane, ticket) = (row.lane, stage.ticket)
    if row.process.hasEnded, !lane.hasBegun(ticket) {
      lane.close(ticket)
      return nil
    }
    stage.visit.place.withLock { $0.lane = row.number }
    let outcome = lane.wait(ticket, until: limit(group), atMost: Self.directBytes)
    guard case .answered(let answer) = outcome else {
      return settle(
        outcome,
        Posted(hook: row.hook, kind: kind, visit: stage.visit, process: row.process, lane: lane, ticket: ticket, row: row),
        group)
    }
    lane.close(ticket, began: answer.began)
    return answer.wasRun ? finish(answer, stage.visit, row.process, row.hook, group) : nil
  }

  /// Until when the thread waits for an answer itself.
  private func limit(_ group: GroupCall) -> UInt64 {
    let now = MonotonicClock.nanoseconds
    return min(now + Self.directWait, max(group.deadline.load(ordering: .relaxed), now))
  }

  /// Runs a hook in the worker, and with it those of the stages that follow.
  private func cross(
    _ hook: Hook, _ kind: StageKind, _ group: GroupCall, _ visit: WorkerVisit, _ event: WorkerEvent
  ) -> crb_verdict {
    let worker = worker(of: visit)
    let process: WorkerProcess
    switch worker.admission(of: visit) {
    case .run(let current): process = current
    case .wait: return unsafe wait(hook, kind, group, visit, event)
    case .refuse(let loss): return lose(loss.in(hook, of: name), group)
    }
    group.remote.discardAhead()
    let others = group.stages(behind: group.openStage, hook, in: workers, process)
    let snapshot = unsafe group.look { group, hook, stage in
      unsafe WorkerSnapshot(group, hook, stage, event, keys: process.keys, others: others)
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
    guard let (ticket, tickets) = lane.open(size, followers: others.count) else {
      return unsafe wait(hook, kind, group, visit, event)
    }
    let row = row(of: others, tickets, hook, group, process, lane: index)
    unsafe snapshot.write(to: lane.memory(ticket), row)
    visit.place.withLock { $0.lane = index }
    guard
      lane.post(
        ticket, UInt16(hook.rawValue), kind: kind.crossing, instance: number, call: visit.number, row: row,
        isCrowded: CallTable.shared.isCrowded)
    else {
      for ticket in tickets { lane.close(ticket) }
      lane.close(ticket)
      return unsafe wait(hook, kind, group, visit, event)
    }
    group.remote.ahead = row
    process.noteCrossing(hooks: 1 + tickets.count)
    let outcome = lane.wait(ticket, until: limit(group), atMost: Self.directBytes)
    if case .answered(let answer) = outcome {
      lane.close(ticket, began: answer.began)
      return finish(answer, visit, process, hook, group)
    }
    return settle(
      outcome,
      Posted(hook: hook, kind: kind, visit: visit, process: process, lane: lane, ticket: ticket, row: row), group)
  }

  /// The stages that follow in a crossing; nil if there are none.
  private func row(
    of others: [Int], _ tickets: [WorkerLane.Ticket], _ hook: Hook, _ group: GroupCall, _ process: WorkerProcess, lane: Int
  ) -> WorkerRow? {
    guard !tickets.isEmpty else { return nil }
    let stages = zip(others, tickets).compactMap { index, ticket in
      group.stages.group.stages[index].plugin.worker.map { instance in
        WorkerRow.Stage(index: index, instance: instance, visit: group.visit(index, hook), ticket: ticket)
      }
    }
    return WorkerRow(hook, in: process, lane: lane, stages)
  }

  /// A hook that is in a worker.
  private struct Posted {
    let hook: Hook
    let kind: StageKind
    let visit: WorkerVisit
    let process: WorkerProcess
    let lane: WorkerLane
    let ticket: WorkerLane.Ticket
    let row: WorkerRow?
  }

  /// Suspends the task of a hook without an answer, unless its worker broke the protocol.
  private func settle(_ outcome: WorkerLane.Outcome, _ posted: Posted, _ group: GroupCall) -> crb_verdict {
    guard case .invalid(let problem) = outcome else { return suspend(posted, group) }
    posted.lane.close(posted.ticket)
    return end(posted.visit, posted.process, posted.hook, problem, group)
  }

  /// Completes a hook that was answered while the host's thread waited. Its slot is given back.
  private func finish(
    _ answer: WorkerLane.Answer, _ visit: WorkerVisit, _ process: WorkerProcess, _ hook: Hook, _ group: GroupCall
  ) -> crb_verdict {
    guard answer.wasRun else { return end(visit, process, hook, WorkerCrossing.passedOver, group) }
    keep(answer, visit, process)
    guard !answer.message.isEmpty else { return Self.verdict(answer) }
    var problem: String?
    let status = CallTable.shared.enter(group.handle) { group, hook, stage in
      problem = apply(answer, to: group, hook, stage, process)
      return Status.ok
    }
    guard status == Status.ok, problem == nil else {
      return end(visit, process, hook, problem ?? "an answer came for a hook that is not open", group)
    }
    return group.remote.loss == nil ? Self.verdict(answer) : Verdict.lost
  }

  /// Ends a worker that broke the protocol, and fails the hook.
  private func end(
    _ visit: WorkerVisit, _ process: WorkerProcess, _ hook: Hook, _ problem: String, _ group: GroupCall
  ) -> crb_verdict {
    process.stop(.brokeProtocol(problem))
    process.noteLost(visit)
    return lose(process.loss(of: name, hook, isCulprit: true), group)
  }

  /// Stages the answer of a hook.
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
  private func suspend(_ posted: Posted, _ group: GroupCall) -> crb_verdict {
    let (lane, ticket, visit) = (posted.lane, posted.ticket, posted.visit)
    let token = HostFunctions.suspend(group.handle)
    let crossing = WorkerCrossing(self, visit, group.handle, token, posted.hook, posted.kind, row: posted.row)
    crossing.move(to: lane, ticket)
    visit.place.withLock { $0.crossing = crossing }
    guard let outcome = lane.announce(ticket, to: crossing) else {
      let lost = WorkerLane.Lost(crossing: crossing, hadBegun: lane.hadBegun(ticket), slot: ticket.slot)
      worker(of: visit).settle(lost, of: posted.process)
      return Verdict.pending
    }
    posted.process.take(outcome, of: crossing)
    posted.process.reader.watch()
    // The message is too large for this thread.
    if case .notYet = outcome, lane.isAnswered(ticket) { posted.process.reader.ring() }
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
    let crossing = WorkerCrossing(self, visit, group.handle, token, hook, kind)
    crossing.wait(until: MonotonicClock.nanoseconds + Self.startWait)
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
    guard let ticket = lane.open(holding: message) else { return false }
    crossing.visit.place.withLock { $0.lane = index }
    guard
      lane.post(
        ticket, UInt16(crossing.hook.rawValue), kind: crossing.kind.crossing, instance: number, call: crossing.visit.number,
        isCrowded: CallTable.shared.isCrowded)
    else {
      lane.close(ticket)
      return false
    }
    process.noteCrossing(hooks: 1)
    crossing.move(to: lane, ticket)
    guard let outcome = lane.announce(ticket, to: crossing) else {
      lane.close(ticket)
      return false
    }
    process.take(outcome, of: crossing)
    process.reader.watch()
    if case .notYet = outcome, lane.isAnswered(ticket) { process.reader.ring() }
    return true
  }

  /// Records whether the worker has memory for the call.
  func keep(_ answer: WorkerLane.Answer, _ visit: WorkerVisit, _ process: WorkerProcess) {
    process.counters.hooks.add()
    visit.place.withLock { $0.process = answer.isKept ? process : nil }
    if visit.isShort { release(visit) }
  }

  func lose(_ loss: PluginError, _ group: GroupCall) -> crb_verdict {
    group.remote.loss = loss
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
  package func noteRevoked(_ state: UnsafeMutableRawPointer?) {
    guard let visit = unsafe WorkerHooks.visit(state), let process = worker(of: visit).process else { return }
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
    if let (lane, ticket) = place.crossing?.detach() {
      // Its token was revoked. The plugin may read what the hook was shown for a while (rule R3). The chain is not kept for that.
      _ = options.environment.schedule(Self.readingTime) { lane.close(ticket) }
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
