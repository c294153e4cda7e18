internal import CarabinerWire

/// The options of a test.
package struct TrialOptions: Sendable {
  /// The configuration to test with, as JSON text; made from the plugin's schema if nil.
  package var configuration: String?
  /// The seed of pseudo-random choices.
  package var seed: UInt64
  /// The capabilities that the plugin may use, such as functions that end or change the process.
  package var capabilities: Set<String>

  /// The scale of repetitions: 1 as on the pages of the checks. A smaller scale takes less time and finds less.
  package var effort: Double

  /// Files and folders that the plugin may read, besides libraries.
  package var files: [String] = []

  /// The number of the exchange after which the check ends; nil for the whole check.
  package var lastExchange: Int?

  /// Where the plugin runs.
  package var isolation = TrialIsolation.inProcess
  /// Whether a worker needs all layers of its confinement.
  package var confinement = Confinement.strict

  /// Whether waits for pending hooks are short, because several checks have found hooks that are never resumed.
  package var isImpatient = false
  /// Whether the child keeps a trace.
  package var isTraced = false
  /// The cases of a fuzzing check, and their ingredients.
  package var cases = FuzzOrder()

  package init(configuration: String? = nil, seed: UInt64 = 1, capabilities: Set<String> = [], effort: Double = 1) {
    self.configuration = configuration
    self.seed = seed
    self.capabilities = capabilities
    self.effort = effort
  }

  /// `count` scaled by the effort, but not less than the minimum that a check needs.
  func times(_ count: Int, atLeast least: Int = 2) -> Int {
    max(min(count, least), Int(Double(count) * effort))
  }
}
