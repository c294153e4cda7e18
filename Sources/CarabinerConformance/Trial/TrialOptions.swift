internal import CarabinerWire

/// What the person who asks for a test says about the plugin.
package struct TrialOptions: Sendable {
  /// The configuration to test with, as JSON text; made from the plugin's schema if nil.
  package var configuration: String?
  /// Where pseudo-random choices begin.
  package var seed: UInt64
  /// What the plugin may import although it ends or changes the process.
  package var capabilities: Set<String>

  /// How often things are repeated, 1 for as often as the checks' pages say; less finds less and takes less time.
  package var effort: Double

  /// Whether the child keeps a trace.
  package var isTraced = false
  /// Which cases of a fuzzing check are run, and what of them.
  package var cases = FuzzOrder()

  package init(configuration: String? = nil, seed: UInt64 = 1, capabilities: Set<String> = [], effort: Double = 1) {
    self.configuration = configuration
    self.seed = seed
    self.capabilities = capabilities
    self.effort = effort
  }

  /// How often something is done that is usually done `count` times; at least as often as it takes to see anything.
  func times(_ count: Int, atLeast least: Int = 2) -> Int {
    max(min(count, least), Int(Double(count) * effort))
  }
}
