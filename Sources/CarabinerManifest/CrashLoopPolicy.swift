/// What is done about a plugin that kills the host again and again.
package struct CrashLoopPolicy: Sendable, Hashable {
  /// What a host does that starts and finds such a plugin in its manifest.
  package enum Remedy: String, Sendable, Hashable, CaseIterable {
    /// It starts without the plugin, unless that is mandatory.
    case skip
    /// It does not start.
    case refuse
  }

  /// How many crashes are too many.
  package var after = 3
  /// Within which time they count.
  package var within = Duration.seconds(600)
  /// What is done then.
  package var then = Remedy.refuse

  /// Three within ten minutes, and the host does not start.
  package init() {}
}
