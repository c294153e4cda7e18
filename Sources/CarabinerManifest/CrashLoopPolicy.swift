/// The reaction to a plugin that crashes the host repeatedly.
package struct CrashLoopPolicy: Sendable, Hashable {
  /// The behaviour of a host that finds such a plugin in its manifest at start-up.
  package enum Remedy: String, Sendable, Hashable, CaseIterable {
    /// The host starts without the plugin, unless the plugin is mandatory.
    case skip
    /// The host does not start.
    case refuse
  }

  /// The number of crashes that triggers `then`.
  package var after = 3
  /// The time within which crashes are counted.
  package var within = Duration.seconds(600)
  /// The reaction to that many crashes.
  package var then = Remedy.refuse

  /// Three crashes within ten minutes; the host does not start.
  package init() {}
}
