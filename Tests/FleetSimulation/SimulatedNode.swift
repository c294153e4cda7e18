internal import CarabinerFleet

/// A gateway of the simulated fleet.
struct SimulatedNode {
  let name: String
  let rank: NodeRank
  var rule: RolloutRule
  /// The number of its process; a restart begins a new one.
  var process = 0
  var isRunning = true
  /// Whether the store cannot be reached.
  var isCutOff = false
  /// Whether its key under `nodes/` is in the store.
  var hasLease = true
  /// The number of the lease. An older one ends without effect.
  var lease = 0
  var report = NodeReport(.serving)
  /// A note about its trial that is not in the store yet. Written when the store can be reached.
  var unsentMark: TrialMark?
  /// How often a process of the node ended while it served the candidate.
  var ends = 0
  /// The control keys as it knows them.
  var keys: ControlKeys
  var ticks = false
  /// Whether it runs the candidate's plugin, in a trial or afterwards.
  var runsCandidate = false
  /// The time of a request to the store, one way.
  let latency: VirtualTime
  let trialTime: VirtualTime
  /// The clock's start, and how fast it runs.
  let clockStart: VirtualTime
  let clockRate: Double

  func clock(at time: VirtualTime) -> Duration { .microseconds(clockStart + VirtualTime(Double(time) * clockRate)) }
}
