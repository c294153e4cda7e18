internal import Carabiner
internal import Synchronization

/// The lanes of one request through one row of stages: one, used again by every retry, and more only if `next` is called
/// while a pass is still under way.
final class CallStatePool: @unchecked Sendable {
  // `isInUse` lets one pass in at a time, and `lane` is that pass's alone.

  let call: PluginCall
  private let row: PluginStageGroup
  private let isInUse = Atomic<Bool>(false)
  private var lane: PluginCallState?

  init(_ row: PluginStageGroup, call: PluginCall) {
    self.row = row
    self.call = call
  }

  /// A pass through the stages.
  func beginPass(timeout: Double?) throws -> CallLease {
    guard !isInUse.exchange(true, ordering: .acquiring) else {
      return CallLease(lane: try PluginCallState(row, call: call), owner: nil, timeout: timeout)
    }
    do {
      let lane = try lane ?? PluginCallState(row, call: call)
      self.lane = lane
      return CallLease(lane: lane, owner: self, timeout: timeout)
    } catch {
      endPass()
      throw error
    }
  }

  fileprivate func endPass() { isInUse.store(false, ordering: .releasing) }
}

/// One pass through a lane; the lane is free for the next when this is gone.
struct CallLease: ~Copyable {
  let lane: PluginCallState
  private let owner: CallStatePool?

  fileprivate init(lane: PluginCallState, owner: CallStatePool?, timeout: Double?) {
    self.lane = lane
    self.owner = owner
    lane.beginPass(deadline: MonotonicClock.deadline(inSeconds: timeout))
  }

  deinit { owner?.endPass() }
}
