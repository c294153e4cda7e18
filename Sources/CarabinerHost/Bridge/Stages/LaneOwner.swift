internal import Carabiner
internal import Synchronization

/// The lanes of one request through one row of stages: one, used again by every retry, and more only if `next` is called
/// while a pass is still under way.
final class LaneOwner: @unchecked Sendable {
  // `isInUse` lets one pass in at a time, and `lane` is that pass's alone.

  let call: PluginCall
  private let row: StageRow
  private let isInUse = Atomic<Bool>(false)
  private var lane: PluginLane?

  init(_ row: StageRow, call: PluginCall) {
    self.row = row
    self.call = call
  }

  /// A pass through the stages.
  func beginPass(timeout: Double?) throws -> LanePass {
    guard !isInUse.exchange(true, ordering: .acquiring) else {
      return LanePass(lane: try PluginLane(row, call: call), owner: nil, timeout: timeout)
    }
    do {
      let lane = try lane ?? PluginLane(row, call: call)
      self.lane = lane
      return LanePass(lane: lane, owner: self, timeout: timeout)
    } catch {
      endPass()
      throw error
    }
  }

  fileprivate func endPass() { isInUse.store(false, ordering: .releasing) }
}

/// One pass through a lane; the lane is free for the next when this is gone.
struct LanePass: ~Copyable {
  let lane: PluginLane
  private let owner: LaneOwner?

  fileprivate init(lane: PluginLane, owner: LaneOwner?, timeout: Double?) {
    self.lane = lane
    self.owner = owner
    lane.beginPass(deadline: MonotonicClock.deadline(inSeconds: timeout))
  }

  deinit { owner?.endPass() }
}
