internal import Foundation
internal import Synchronization

/// The supervisor's side of fuzzing: it gives each child some cases, and continues after a case that ended its child.
struct FuzzRun {
  private let supervisor: Supervisor
  private let check: Check
  private let copy: String

  init(_ supervisor: Supervisor, _ check: Check, _ copy: String) {
    self.supervisor = supervisor
    self.check = check
    self.copy = copy
  }

  /// Runs all requested cases, with the permitted number of children at once.
  func outcome() -> CheckOutcome {
    let cases = supervisor.options.trial.cases.cases
    let start = ContinuousClock.now
    let work = Mutex(FuzzWork(cases, seed: supervisor.options.trial.seed))
    let group = DispatchGroup()
    for _ in 0..<min(supervisor.options.jobs, cases.count / FuzzWork.batch + 1) {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        while !supervisor.isStopped, let part = work.withLock({ $0.next() }) {
          let ended = run(part)
          work.withLock { $0.add(ended, of: part) }
        }
      }
    }
    group.wait()
    let done = work.withLock(\.self)
    let outcomes = done.outcomes
    // The worst outcome, and of equal ones the first by case. It does not depend on the order in which children end.
    var worst = outcomes.reduce(CheckOutcome(check: check, status: .pass, findings: [], duration: .zero, output: "")) {
      $0.status.badness < $1.status.badness ? $1 : $0
    }
    var findings = outcomes.flatMap(\.findings)
    if findings.contains(where: { $0.check != check.id && $0.severity == .failure }),
      worst.status.badness < CheckOutcome.Status.fail.badness
    {
      worst.status = .fail
    }
    if done.left > 0 {
      if supervisor.isStopped {
        worst.status = .skip(CheckOutcome.Status.stoppedReason)
      } else if worst.status.badness >= CheckOutcome.Status.fail.badness {
        let last = "\(done.left) of \(cases.count) cases were not run"
        findings.append(Finding(check.id, .failure, "\(done.deaths) cases ended the process; \(last)"))
      }
    }
    return CheckOutcome(
      check: check, status: worst.status, findings: grouped(findings), duration: .now - start, output: worst.output,
      stack: worst.stack)
  }

  /// One finding for each rule and message, with its first case. A finding of another check becomes one of this check, because only
  /// this check reports the case.
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
      var finding = Finding(check.id, first.severity, "\(rule)\(first.message)\(more)", place: first.place)
      finding.foundBy = check.id
      finding.stack = first.stack
      return finding
    }
  }

  /// Runs some cases in one child.
  func run(_ cases: Range<Int>, keeping kept: Set<Int>? = nil) -> Supervisor.Ended {
    var trial = supervisor.options.trial
    trial.cases = FuzzOrder(cases: cases, kept: kept)
    return supervisor.run(check, copy, trial)
  }
}

extension CheckOutcome.Status {
  /// The more important of two outcomes.
  fileprivate var badness: Int {
    switch self {
    case .pass: 0
    case .skip, .untested: 1
    case .warn: 2
    case .fail: 3
    case .harnessError: 4
    case .timeout: 5
    case .crash: 6
    }
  }
}
