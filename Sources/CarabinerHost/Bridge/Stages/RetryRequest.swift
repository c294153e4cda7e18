internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// A retry a plugin asks for: counted, and waited for.
struct RetryRequest {
  private let lane: PluginCallState
  private let answer: StagedEffects
  private let index: Int
  private let hook: Hook

  init(_ lane: PluginCallState, _ answer: StagedEffects, at index: Int, _ hook: Hook) {
    self.lane = lane
    self.answer = answer
    self.index = index
    self.hook = hook
  }

  /// Whether a retry makes sense at all: what went outward cannot be taken back.
  var isPossible: Bool { !lane.call.wasDelivered }

  /// Counts the retry and waits as long as the plugin asked for, at most to the deadline.
  func allow() async throws {
    guard lane.call.mayRetry() else {
      throw PluginError(
        code: .retryLimit, entry: lane.name(index), hook: hook.name,
        message: "plugins asked for more than \(lane.call.limits.maximumRetries) retries of one request; look at what the retry "
          + "does not mend, or raise plugin-retries")
    }
    lane.row.stages[index].plugin.statistics.retries.wrappingAdd(1, ordering: .relaxed)
    guard answer.retryDelay > 0 else { return }
    let deadline = lane.record.deadline.load(ordering: .relaxed)
    let left = deadline == .max ? UInt64.max : deadline - min(deadline, MonotonicClock.nanoseconds)
    try await Task.sleep(for: .nanoseconds(Int64(clamping: min(answer.retryDelay, left))))
  }
}
