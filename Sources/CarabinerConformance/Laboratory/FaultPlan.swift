internal import CCarabiner

/// Which host functions fail, how, and how often.
struct FaultPlan: Sendable {
  /// What a function answers in place of doing its work.
  struct Fault: Sendable {
    /// The status, of functions that answer one; others answer 0 or NULL.
    let status: crb_status
    /// Every how many-th call fails, beginning with the first that may.
    let interval: Int
    /// How many calls do their work before any fails.
    let quota: Int
  }

  private var faults: [HostSlot: Fault] = [:]
  private var counts: [HostSlot: Int] = [:]

  /// Makes a function fail, at once or once its quota is used up.
  mutating func fail(_ slot: HostSlot, with status: crb_status, every interval: Int = 1, after quota: Int = 0) {
    faults[slot] = Fault(status: status, interval: max(interval, 1), quota: quota)
    counts[slot] = 0
  }

  /// Lets all functions work again.
  mutating func clear() { self = FaultPlan() }

  /// What a call of the function answers at once; nil if it is to do its work.
  mutating func next(_ slot: HostSlot) -> crb_status? {
    guard let fault = faults[slot] else { return nil }
    let count = counts[slot, default: 0]
    counts[slot] = count + 1
    return count >= fault.quota && (count - fault.quota) % fault.interval == 0 ? fault.status : nil
  }
}
