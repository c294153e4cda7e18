package import CarabinerFleet
internal import Glibc

/// The subject of a simulation. Equal settings give equal results.
package struct SimulationSettings: Sendable, Hashable {
  /// The behaviour of the candidate's plugin.
  package enum Plugin: String, Sendable, CaseIterable {
    case good
    /// The trial of each node fails, and the node goes back.
    case refused
    /// It ends the process of each node in its trial.
    case crashes
    /// It ends the process of a node minutes after its trial, most often after 2.
    case crashesLater = "crashes-later"
  }

  /// Faults beside those of the plugin.
  package struct Faults: Sendable, Hashable {
    /// How often an hour a node ends without a reason of the plugin, for example because its machine does.
    package var crashesPerHour = 0.0
    /// How often an hour some nodes are cut off from the store, for 10 to 60 s.
    package var partitionsPerHour = 0.0
    /// The share of the nodes that are cut off then.
    package var partitionShare = 0.05
    /// The share of the nodes whose trials and requests take 10 times as long.
    package var slowShare = 0.0
    /// By what share the clocks of nodes run faster or slower at most. Their times of day differ by hours in any case.
    package var clockDrift = 0.0

    package static let none = Faults()
    package static let many = Faults(
      crashesPerHour: 0.02, partitionsPerHour: 12, partitionShare: 0.05, slowShare: 0.05, clockDrift: 0.01)

    package init(
      crashesPerHour: Double = 0, partitionsPerHour: Double = 0, partitionShare: Double = 0.05, slowShare: Double = 0,
      clockDrift: Double = 0
    ) {
      self.crashesPerHour = crashesPerHour
      self.partitionsPerHour = partitionsPerHour
      self.partitionShare = partitionShare
      self.slowShare = slowShare
      self.clockDrift = clockDrift
    }
  }

  package var nodes: Int
  package var plan: RolloutPlan
  package var plugin: Plugin
  package var faults: Faults
  package var seed: UInt64
  /// The virtual time after which the simulation ends in any case.
  package var limit: Duration
  /// How long the simulation goes on after a halt, to see that the halt is final.
  package var afterHalt: Duration

  package init(
    nodes: Int, plan: RolloutPlan = .standard, plugin: Plugin = .good, faults: Faults = .none, seed: UInt64 = 1,
    limit: Duration = .seconds(7200), afterHalt: Duration = .seconds(300)
  ) {
    self.nodes = nodes
    self.plan = plan
    self.plugin = plugin
    self.faults = faults
    self.seed = seed
    self.limit = limit
    self.afterHalt = afterHalt
  }
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func share() -> Double { Double.random(in: 0..<1, using: &self) }

  /// A time with this mean in seconds, at least 1 ms: that to the next of events which do not depend on each other.
  mutating func exponential(mean: Double) -> VirtualTime { max(.milliseconds(1), .seconds(-mean * log(1 - share()))) }

  mutating func time(_ range: ClosedRange<VirtualTime>) -> VirtualTime { VirtualTime.random(in: range, using: &self) }
}
