internal import Foundation

/// The supervisor's side of fuzzing: gives children some cases each, and goes on behind a case that ended one.
struct FuzzRun {
  /// How many cases one child gets.
  private static let batch = 250
  /// After how many cases that end a child there is nothing more to learn.
  private static let maximumDeaths = 5

  private let supervisor: Supervisor
  private let check: Check
  private let copy: String

  init(_ supervisor: Supervisor, _ check: Check, _ copy: String) {
    self.supervisor = supervisor
    self.check = check
    self.copy = copy
  }

  /// Runs all cases that were asked for.
  func outcome() -> CheckOutcome {
    var cases = supervisor.options.trial.cases.cases
    let count = cases.count
    var worst = CheckOutcome(check: check, status: .pass, findings: [], duration: .zero, output: "")
    var findings: [Finding] = []
    var deaths = 0
    let start = ContinuousClock.now
    while !cases.isEmpty, deaths < Self.maximumDeaths, !supervisor.isStopped {
      let part = cases.prefix(Self.batch)
      let ended = run(part)
      findings += ended.outcome.findings
      if worst.status.badness < ended.outcome.status.badness { worst = ended.outcome }
      var next = part.upperBound
      switch ended.outcome.status {
      case .crash, .timeout:
        deaths += 1
        // The plugin can write into the record; what it says is used if it can be true.
        if let died = Self.number(in: ended.step, seed: supervisor.options.trial.seed), part.contains(died) { next = died + 1 }
      case .skip, .harnessError: next = cases.upperBound
      case .pass, .warn, .fail: break
      }
      cases = next..<cases.upperBound
    }
    if findings.contains(where: { $0.check != check.id && $0.severity == .failure }),
      worst.status.badness < CheckOutcome.Status.fail.badness
    {
      worst.status = .fail
    }
    if !cases.isEmpty {
      let last = "the last \(cases.count) of \(count) cases were not run"
      if supervisor.isStopped {
        worst.status = .skip(CheckOutcome.Status.stoppedReason)
      } else if worst.status.badness >= CheckOutcome.Status.fail.badness {
        findings.append(Finding(check.id, .failure, "\(deaths) cases ended the process; \(last)"))
      }
    }
    return CheckOutcome(
      check: check, status: worst.status, findings: grouped(findings), duration: .now - start, output: worst.output)
  }

  /// One finding for each rule and message, with the first case that shows it. A case breaks a rule of another check, and this one as
  /// well: only here it is known which case it was.
  private func grouped(_ findings: [Finding]) -> [Finding] {
    var groups: [(first: Finding, count: Int)] = []
    for finding in findings {
      if let index = groups.firstIndex(where: { $0.first.check == finding.check && $0.first.message == finding.message }) {
        groups[index].count += 1
      } else {
        groups.append((finding, 1))
      }
    }
    return groups.map { first, count in
      let rule = first.check == check.id ? "" : "\(first.check): "
      let more = count == 1 ? "" : "; \(count - 1) more cases show it"
      return Finding(check.id, first.severity, "\(rule)\(first.message)\(more)", place: first.place)
    }
  }

  /// Runs some cases in one child.
  func run(_ cases: Range<Int>, keeping kept: Set<Int>? = nil) -> Supervisor.Ended {
    var trial = supervisor.options.trial
    trial.cases = FuzzOrder(cases: cases, kept: kept)
    return supervisor.run(check, copy, trial)
  }

  /// The number of the case that a step tells of; nil if it tells of none.
  static func number(in step: String, seed: UInt64) -> Int? {
    guard let range = step.range(of: "case \(seed):") else { return nil }
    return Int(step[range.upperBound...].prefix { $0.isNumber })
  }
}

extension CheckOutcome.Status {
  /// Which of two outcomes tells more.
  fileprivate var badness: Int {
    switch self {
    case .pass: 0
    case .skip: 1
    case .warn: 2
    case .fail: 3
    case .harnessError: 4
    case .timeout: 5
    case .crash: 6
    }
  }
}
