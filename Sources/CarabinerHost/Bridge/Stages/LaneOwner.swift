internal import Carabiner
internal import Synchronization

/// The lanes of one request through one row of stages: one, used again by every retry, and more only if `next` is called
/// while a pass is still under way.
final class LaneOwner: Sendable {
  private struct State {
    var lane: PluginLane?
    var isInUse = false
  }

  private let row: StageRow
  private let call: PluginCall
  private let state = Mutex(State())

  init(_ row: StageRow, call: PluginCall) {
    self.row = row
    self.call = call
  }

  /// A pass through the stages.
  func beginPass(timeout: Double?) throws -> LanePass {
    let reused: PluginLane?? = state.withLock { state in
      guard !state.isInUse else { return nil }
      state.isInUse = true
      return .some(state.lane)
    }
    let lane: PluginLane
    switch reused {
    case nil: lane = try PluginLane(row, call: call)
    case .some(nil):
      do {
        lane = try PluginLane(row, call: call)
      } catch {
        state.withLock { $0.isInUse = false }
        throw error
      }
      state.withLock { $0.lane = lane }
    case .some(let existing?): lane = existing
    }
    lane.beginPass(deadline: MonotonicClock.deadline(inSeconds: timeout))
    return LanePass(lane: lane, owner: reused == nil ? nil : self)
  }

  fileprivate func endPass() { state.withLock { $0.isInUse = false } }
}

/// One pass through a lane; the lane is free for the next when this is gone.
struct LanePass: ~Copyable {
  let lane: PluginLane
  private let owner: LaneOwner?

  fileprivate init(lane: PluginLane, owner: LaneOwner?) {
    self.lane = lane
    self.owner = owner
  }

  deinit { owner?.endPass() }
}
