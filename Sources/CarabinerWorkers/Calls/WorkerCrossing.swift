internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// A call of one stage, as its worker knows it: the state that the host passes to each hook of the stage.
final class WorkerVisit: Sendable {
  struct Place: Sendable {
    /// The worker with memory for the call; nil if none has any.
    var process: WorkerProcess?
    /// The lane of the last hook.
    var lane = 0
    /// The suspended hook.
    var crossing: WorkerCrossing?
    /// Whether the call is counted as lost.
    var isLost = false
  }

  /// The number of the call in workers. It is never used again.
  let number: UInt64
  let kind: StageKind
  /// Chooses the worker, if there are several: all hooks of a request cross to the same one (`worker.3`).
  let home: UInt64
  /// Whether the call ends with its first hook, as the host has no state for it.
  let isShort: Bool
  let place = Mutex(Place())

  private static let last = Atomic<UInt64>(0)

  /// Whether no other process has memory for the call.
  func isFree(for process: WorkerProcess) -> Bool { place.withLock { $0.process == nil || $0.process === process } }

  init(_ kind: StageKind, home: UInt64, isShort: Bool = false) {
    self.kind = kind
    self.home = home
    number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
    self.isShort = isShort
  }
}

/// A hook that is in a worker, or waits for one, while its task is suspended.
final class WorkerCrossing: Sendable {
  private struct Place: Sendable {
    var lane: WorkerLane?
    var ticket = WorkerLane.Ticket.none
    /// Whether the hook was taken from a worker that ended.
    var wasRepeated = false
    /// When it stops waiting for a worker, in nanoseconds of the monotonic clock.
    var waitsUntil = UInt64.max
  }

  let instance: WorkerInstance
  let visit: WorkerVisit
  let call: crb_call
  let token: crb_token
  let hook: Hook
  let kind: StageKind
  /// The stages after the first one of the crossing; nil if there are none.
  let row: WorkerRow?
  private let place = Mutex(Place())

  init(
    _ instance: WorkerInstance, _ visit: WorkerVisit, _ call: crb_call, _ token: crb_token, _ hook: Hook, _ kind: StageKind,
    row: WorkerRow? = nil
  ) {
    self.row = row
    self.instance = instance
    self.visit = visit
    self.call = call
    self.token = token
    self.hook = hook
    self.kind = kind
  }

  /// The rule that the answer "not run" breaks, unless it is that of a follower.
  static let passedOver = "a hook was passed over after another one of its crossing"

  var ticket: WorkerLane.Ticket { place.withLock { $0.ticket } }

  /// When it stops waiting for a worker, in nanoseconds of the monotonic clock.
  var waitsUntil: UInt64 { place.withLock { $0.waitsUntil } }

  func wait(until time: UInt64) { place.withLock { $0.waitsUntil = time } }

  func isIn(_ lane: WorkerLane) -> Bool { place.withLock { $0.lane === lane } }

  func move(to lane: WorkerLane, _ ticket: WorkerLane.Ticket) {
    place.withLock { place in
      place.lane = lane
      place.ticket = ticket
    }
  }

  /// The message of the hook, for another worker; nil if it has been sent a second time already.
  func takeMessage() -> [UInt8]? {
    let place = place.withLock { place -> Place? in
      guard !place.wasRepeated else { return nil }
      place.wasRepeated = true
      return place
    }
    guard let place, let lane = place.lane, var message = lane.message(place.ticket) else { return nil }
    unsafe WorkerSnapshot.removeFollowers(from: &message)
    return message
  }

  /// Gives the slot back.
  ///
  /// - Parameter began: When the lane took the post, as the worker says; 0 if it is unknown.
  func leave(began: UInt64 = 0) {
    visit.place.withLock { if $0.crossing === self { $0.crossing = nil } }
    let (lane, ticket) = place.withLock { place in
      defer { place.lane = nil }
      return (place.lane, place.ticket)
    }
    lane?.close(ticket, began: began)
  }

  /// Ends the wait for an answer.
  ///
  /// - Returns: The slot, which the plugin may still use; nil if it was given back.
  func detach() -> (lane: WorkerLane, ticket: WorkerLane.Ticket)? {
    let (lane, ticket) = place.withLock { place in
      defer { place.lane = nil }
      return (place.lane, place.ticket)
    }
    guard let lane else { return nil }
    lane.forget(ticket)
    return (lane, ticket)
  }

  /// Completes the hook with the answer of its worker.
  ///
  /// - Returns: The rule that the answer breaks; nil if it breaks none.
  func complete(_ answer: WorkerLane.Answer, of process: WorkerProcess) -> String? {
    // The answer that a hook was not run comes before that of the stage which ended the row.
    guard answer.wasRun else { return Self.passedOver }
    var problem: String?
    var verdict = WorkerInstance.verdict(answer)
    let isCurrent = enter { group, hook, stage in
      problem = instance.apply(answer, to: group, hook, stage, process)
      if group.remote.loss != nil { verdict = Verdict.lost }
    }
    instance.keep(answer, visit, process)
    if problem == nil, isCurrent { _ = HostFunctions.resume(token, verdict) }
    if !isCurrent { noteResumed() }
    return problem
  }

  /// Ends the hook without a result.
  ///
  /// - Parameter culprit: Another stage of the crossing, during whose hook the worker ended.
  func lose(_ loss: PluginError, culprit: WorkerRow.Stage? = nil) {
    // The worker has ended, or has never seen the message: nothing is kept for it.
    leave()
    let isCurrent = enter { group, _, _ in
      group.remote.loss = loss
      if let culprit { group.noteFault(at: culprit.index) }
    }
    if isCurrent { _ = HostFunctions.resume(token, Verdict.lost) } else { noteResumed() }
  }

  /// The worker does not read the views of the call, and a late answer changes nothing: nothing has to be kept for it.
  private func noteResumed() { Quarantine.shared.noteResumed(token) }

  private func enter(_ body: (GroupCall, Hook, StageBinding) -> Void) -> Bool {
    guard let group = CallTable.shared.find(call) else { return false }
    return group.enter(UInt32(truncatingIfNeeded: call), holding: UInt32(truncatingIfNeeded: token), body)
  }
}
