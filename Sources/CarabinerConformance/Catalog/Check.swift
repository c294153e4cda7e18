/// One thing the harness wants to know of a plugin, and the way it finds out.
///
/// A check cannot be written without its page: all of it is asked for here, so a build with a check nobody can look up fails.
package struct Check: Sendable {
  /// Two letters and two digits; it never changes its meaning.
  package let id: String
  /// From which level it counts.
  package let level: Int
  /// The rule in a line.
  package let title: String
  /// What `--explain` prints.
  package let page: Page
  /// How long it may take; the load of a machine is no fault of the plugin, so this is generous.
  package let timeLimit: Duration
  /// Whether its process ends as programs do, running what was registered for that, and not at once.
  let endsOrderly: Bool
  /// What it does, in a process of its own.
  let trial: Trial

  /// What a check works on.
  enum Trial: Sendable {
    /// The bytes of the file; none of its code runs.
    case file(@Sendable (FileTrial) throws -> Void)
    /// The file, before anything was loaded: the check loads it itself.
    case loading(@Sendable (LoadingTrial) throws -> Void)
    /// Each interceptor of the loaded library, in a laboratory of its own.
    case interceptor(@Sendable (InterceptorTrial) throws -> Void)
    /// Many cases, of which a process gets some: one that ends it does not keep the others from being tried.
    case cases(@Sendable (LoadingTrial, FuzzOrder) throws -> Void)
  }

  /// Why a rule is there and how to keep it.
  package struct Page: Sendable, Hashable {
    /// The rule, in full.
    package let rule: String
    /// What happens to those who break it.
    package let reason: String
    /// Code that breaks it.
    package let example: String
    /// What to write instead.
    package let remedy: String

    package init(rule: String, reason: String, example: String, remedy: String) {
      self.rule = rule
      self.reason = reason
      self.example = example
      self.remedy = remedy
    }
  }

  init(
    _ id: String, level: Int, _ title: String, page: Page, timeLimit: Duration = .seconds(60), endsOrderly: Bool = false,
    _ trial: Trial
  ) {
    self.id = id
    self.level = level
    self.title = title
    self.page = page
    self.timeLimit = timeLimit
    self.endsOrderly = endsOrderly
    self.trial = trial
  }

  /// Whether it is made of cases.
  package var isFuzzing: Bool { if case .cases = trial { true } else { false } }

  /// The letters of the id: what the check is about.
  package var group: String { String(id.prefix(2)) }
}
