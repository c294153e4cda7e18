internal import CCarabiner

/// Which host functions fail, how, and how often.
struct FaultPlan: Sendable {
  /// The answer of a failing function.
  struct Fault: Sendable {
    /// The status, if the function answers one; other functions answer 0 or NULL.
    let status: crb_status
    /// The interval of failing calls: every n-th fails, beginning with the first.
    let interval: Int
    /// How many calls succeed before the first failure.
    let quota: Int
  }

  private var faults: [HostSlot: Fault] = [:]
  private var counts: [HostSlot: Int] = [:]

  /// Whether every function works.
  var isEmpty: Bool { faults.isEmpty }

  /// Makes a function fail, at once or once its quota is used up.
  mutating func fail(_ slot: HostSlot, with status: crb_status, every interval: Int = 1, after quota: Int = 0) {
    faults[slot] = Fault(status: status, interval: max(interval, 1), quota: quota)
    counts[slot] = 0
  }

  /// Removes all faults.
  mutating func clear() { self = FaultPlan() }

  /// The answer of a call that is to fail; nil if it is to succeed.
  mutating func next(_ slot: HostSlot) -> crb_status? {
    guard let fault = faults[slot] else { return nil }
    let count = counts[slot, default: 0]
    counts[slot] = count + 1
    return count >= fault.quota && (count - fault.quota) % fault.interval == 0 ? fault.status : nil
  }
}
