internal import CCrossing
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// The stages after the first one of a crossing: their hooks run in the same one, as long as each stage lets the message pass
/// (`worker.26`).
///
/// It belongs to the owner of the call. The chain calls these hooks next, and each of them finds its answer here.
final class WorkerRow: HooksAhead, @unchecked Sendable {
  // `taken` is of the owner of the call, like all of `GroupCall` but its atomics.

  /// A follower.
  struct Stage {
    /// Its number in the group of the call.
    let index: Int
    let instance: WorkerInstance
    let visit: WorkerVisit
    let ticket: WorkerLane.Ticket
  }

  let hook: Hook
  let process: WorkerProcess
  /// The number of the lane.
  let number: Int
  let stages: [Stage]
  @safe @exclusivity(unchecked) private var taken = 0

  init(_ hook: Hook, in process: WorkerProcess, lane number: Int, _ stages: [Stage]) {
    self.hook = hook
    self.process = process
    self.number = number
    self.stages = stages
  }

  var lane: WorkerLane { process.lanes[number] }

  var isTaken: Bool { taken == stages.count }

  /// The next stage, if it is that with a number in the group.
  func take(_ hook: Hook, _ index: Int) -> Stage? {
    guard hook == self.hook, taken < stages.count, stages[taken].index == index else { return nil }
    defer { taken += 1 }
    return stages[taken]
  }

  /// The stage that a slot belongs to.
  func stage(of slot: UInt32, _ generation: UInt32) -> Stage? {
    stages.first { $0.ticket.slot == slot && $0.ticket.generation == generation }
  }

  /// Drops the answers that were not taken, because the call continues without these stages.
  func discard() {
    for stage in stages[taken...] {
      let (lane, ticket) = (lane, stage.ticket)
      if case .answered(let answer) = lane.look(ticket) {
        if answer.wasRun { end(stage) }
        lane.close(ticket)
      } else {
        end(stage)
        // The plugin may read the message.
        _ = stage.instance.options.environment.schedule(WorkerInstance.readingTime) { lane.close(ticket) }
      }
    }
    taken = stages.count
  }

  /// Notifies the worker of the end of a call whose hook has run, or may still run.
  private func end(_ stage: Stage) {
    stage.visit.place.withLock { place in
      place.process = process
      place.lane = number
    }
    stage.instance.cancel(stage.visit)
    // The host has no state of the stage that it would release later.
    if stage.visit.isShort { stage.instance.release(stage.visit) }
  }
}

extension GroupCall {
  /// The stages whose hooks a worker calls ahead of the chain.
  var row: WorkerRow? { remote.ahead as? WorkerRow }

  /// The stages whose hooks the chain calls after this one, and that run in the same worker with it.
  ///
  /// - Returns: Their numbers; empty for hooks that end a stage's way by themselves.
  func stages(behind index: Int, _ hook: Hook, in workers: WorkerGroup, _ process: WorkerProcess) -> [Int] {
    let group = stages.group
    // A trace has the time of each hook.
    guard !stages.isTraced, group.kind == .graphQL || group.kind == .http else { return [] }
    var found: [Int] = []
    found.reserveCapacity(group.count - 1)
    for next in hook == .onRequest ? stride(from: index + 1, to: group.count, by: 1) : stride(from: index - 1, to: -1, by: -1) {
      guard found.count < WorkerInstance.maximumFollowers else { break }
      guard has(hook, at: next) else { continue }
      guard group.stages[next].plugin.worker?.isIn(workers) == true, isShownTheSame(next, index, hook) else { break }
      // The state of the stage may have ended with another process.
      if let known = unsafe WorkerHooks.visit(stages.states[next]), !known.isFree(for: process) { break }
      found.append(next)
    }
    return found
  }

  private func has(_ hook: Hook, at index: Int) -> Bool {
    switch hook {
    case .onRequest: unsafe stages.group.onRequest[index] != nil
    case .onResult: unsafe stages.group.onResult[index] != nil
    case .onHead: unsafe stages.group.onHead[index] != nil
    case .onChunk: unsafe stages.group.onChunk[index] != nil
    case .onEnd: unsafe stages.isOpen(index) && stages.group.tails[index].onEnd != nil
    default: false
    }
  }

  /// Whether two stages are shown the same parts of an event.
  private func isShownTheSame(_ one: Int, _ other: Int, _ hook: Hook) -> Bool {
    switch hook {
    case .onResult, .onHead: unsafe stages.group.shownTo[one] == stages.group.shownTo[other]
    default: true
    }
  }

  /// The state of a stage, made if it has none yet.
  func visit(_ index: Int, _ hook: Hook) -> WorkerVisit {
    if let known = unsafe WorkerHooks.visit(stages.states[index]) { return known }
    let (kind, home) = (stages.group.kind, requestID.load(ordering: .relaxed))
    guard hook == .onRequest else { return WorkerVisit(kind, home: home, isShort: true) }
    let made = WorkerVisit(kind, home: home)
    unsafe stages.states[index] = unsafe Unmanaged.passRetained(made).toOpaque()
    return made
  }
}
