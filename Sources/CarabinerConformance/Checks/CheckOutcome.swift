/// How one check of one plugin ended.
package struct CheckOutcome: Sendable, Hashable {
  package enum Status: Sendable, Hashable {
    case pass
    case warn
    case fail
    case skip(String)
    /// No instance of the plugin could be created, so the rule was not tested.
    case untested(String)
    /// The process ended unexpectedly, for this reason, in this hook. The hook is empty if none was running.
    case crash(String, hook: String)
    case timeout(hook: String)
    /// A failure of the harness, not of the plugin.
    case harnessError(String)
  }

  package let check: Check
  package var status: Status
  package var findings: [Finding]
  package let duration: Duration
  /// The end of what the plugin wrote to standard output and error.
  package let output: String
  /// The stack on which the process ended, the innermost frame first; empty if it did not end so, or left none.
  package var stack: [StackFrame] = []
  /// The number of the exchange in which the process ended unexpectedly; 0 if in none, or if several ran at once.
  package var exchange = 0

  package static func == (left: CheckOutcome, right: CheckOutcome) -> Bool {
    left.check.id == right.check.id && left.status == right.status && left.findings == right.findings
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(check.id)
    hasher.combine(status)
  }

  /// Whether the check has no result, although no rule was broken. The plugin then reaches no level that includes the check.
  package var isUnanswered: Bool {
    switch status {
    case .harnessError, .untested, .skip(Status.stoppedReason): true
    default: false
    }
  }

  /// Whether the process ended unexpectedly.
  package var hasDied: Bool {
    switch status {
    case .crash, .timeout: true
    case .pass, .warn, .fail, .skip, .untested, .harnessError: false
    }
  }

  /// Whether the plugin does not reach the level of this check.
  package func isFailure(warningsCount: Bool) -> Bool {
    switch status {
    case .pass, .skip, .untested, .harnessError: false
    case .warn: warningsCount
    case .fail, .crash, .timeout: true
    }
  }
}

extension CheckOutcome.Status {
  /// The reason of a check that was skipped because the test was stopped.
  static let stoppedReason = "the test was stopped"

  /// Its name in reports.
  package var name: String {
    switch self {
    case .pass: "PASS"
    case .warn: "WARN"
    case .fail: "FAIL"
    case .skip: "SKIP"
    case .untested: "UNTESTED"
    case .crash: "CRASH"
    case .timeout: "TIMEOUT"
    case .harnessError: "HARNESS_ERROR"
    }
  }

  /// The same without the hook and the step.
  var withoutPlace: Self {
    switch self {
    case .crash(let what, _): .crash(what, hook: "")
    case .timeout: .timeout(hook: "")
    case .pass, .warn, .fail, .skip, .untested, .harnessError: self
    }
  }

  /// The hook and the step in which the process ended unexpectedly; empty if it did not, or in none.
  var place: String {
    switch self {
    case .crash(_, let hook), .timeout(let hook): hook
    case .pass, .warn, .fail, .skip, .untested, .harnessError: ""
    }
  }

  /// Details in addition to the name.
  package var detail: String {
    func place(_ hook: String) -> String { hook.isEmpty ? "" : " in \(hook)" }
    return switch self {
    case .pass, .warn, .fail: ""
    case .skip(let reason), .untested(let reason): reason
    case .crash(let what, let hook): "\(what)\(place(hook))"
    case .timeout(let hook): "it did not end in time\(place(hook))"
    case .harnessError(let reason): reason
    }
  }
}
