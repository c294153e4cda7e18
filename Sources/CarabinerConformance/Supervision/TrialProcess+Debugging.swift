internal import CTestHost
internal import Glibc

extension TrialProcess {
  /// Runs a check in this process, which a debugger may control, and ends the process. Nothing is confined.
  ///
  /// - Parameter end: Called with the outcome, on the thread of the check. It returns the exit status.
  /// - Throws: As ``ScratchFolder`` if there is no folder for the files of the check.
  package static func debug(_ order: Order, _ check: Check, _ end: @escaping @Sendable (CheckOutcome) -> Int32) throws -> Never {
    let folder = try ScratchFolder(for: .writing)
    guard unsafe chdir(folder.path) == 0 else {
      throw ConformanceError(message: unsafe "\(folder.path) cannot be entered: \(String(cString: strerror(errno)))")
    }
    CTestHost_catchTouches()
    let start = ContinuousClock.now
    let notes = TrialNotes(check: check.id)
    let finish: @Sendable (TrialReport.Contents) -> Void = { contents in
      var findings = notes.withBreaches
      for index in findings.indices { findings[index].foundBy = check.id }
      // No other check runs here, so the findings of all rules count.
      let outcome = CheckOutcome(
        check: check, status: Supervisor.status(contents, findings), findings: findings, duration: .now - start, output: "")
      FolderTree.remove(folder.path)
      let status = end(outcome)
      if check.endsOrderly { exit(status) }
      _exit(status)
    }
    endEarly(order, finish)
    finish(contents(of: order, notes) { _ in })
    _exit(0)
  }
}
