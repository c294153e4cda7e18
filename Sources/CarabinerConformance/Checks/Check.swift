/// One rule that the harness checks, with the code of the check.
///
/// The initializer requires all of a check's page, so a check without documentation does not compile.
package struct Check: Sendable {
  /// The id: two letters and two digits. Its meaning never changes.
  package let id: String
  /// The lowest level that includes it.
  package let level: Int
  /// The rule in one line.
  package let title: String
  /// The text of `--explain`.
  package let page: Page
  /// The time limit of the check. It is generous, so that a check does not fail on a busy machine.
  package let timeLimit: Duration
  /// Whether the process of the check ends with exit(), which runs exit handlers and destructors.
  let endsOrderly: Bool
  /// The code of the check, which runs in its own process.
  let trial: Trial

  /// The input of a check.
  enum Trial: Sendable {
    /// The check reads the bytes of the file. No code of the plugin runs.
    case file(@Sendable (FileTrial) throws -> Void)
    /// The check loads the file itself.
    case loading(@Sendable (LoadingTrial) throws -> Void)
    /// The check runs for each interceptor of the loaded library, in the test host.
    case interceptor(@Sendable (InterceptorTrial) throws -> Void)
    /// The check has many cases, spread over processes. If a case ends its process, the other cases run nevertheless.
    case cases(@Sendable (LoadingTrial, FuzzOrder) throws -> Void)
  }

  /// The documentation of a check: its rule, the reason, and how to follow it.
  package struct Page: Sendable, Hashable {
    /// The rule, in full.
    package let rule: String
    /// The consequence of a breach.
    package let reason: String
    /// Code that breaks the rule.
    package let example: String
    /// The correct code.
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

  /// Whether code of the plugin runs.
  var loadsPlugin: Bool { if case .file = trial { false } else { true } }

  /// Whether the check consists of cases.
  package var isFuzzing: Bool { if case .cases = trial { true } else { false } }

  /// The letters of the id, which name its group.
  package var group: String { String(id.prefix(2)) }
}
