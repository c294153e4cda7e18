internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire
internal import Foundation
internal import Synchronization

/// Runs checks of one plugin, each in its own child process. It neither loads the plugin nor parses it;
/// it only copies the file.
package struct Supervisor: Sendable {
  /// How a test is run.
  package struct Options: Sendable {
    /// Arguments with which this program runs one order as a child; the order follows them.
    package var childArguments: [String]
    /// How many children run at once.
    package var jobs: Int
    /// How much longer or shorter than usual checks may take.
    package var timeScale: Double
    package var trial: TrialOptions
    /// The required confinement of a child.
    package var confinement = Confinement.strict
    /// A descriptor that becomes readable when the test is to stop.
    package var stop: Int32?
    /// Where the children's traces go.
    package var trace: TraceWriter?

    package init(
      childArguments: [String], jobs: Int = 2, timeScale: Double = 1, trial: TrialOptions = TrialOptions(), stop: Int32? = nil
    ) {
      self.childArguments = childArguments
      self.jobs = max(jobs, 1)
      self.timeScale = timeScale
      self.trial = trial
      self.stop = stop
    }
  }

  /// The number of checks that did not end after which further checks have less time. A plugin that never releases a lock would
  /// otherwise use the full time in almost all checks.
  private static let patience = 3
  /// The time limit of those further checks.
  private static let shortTimeLimit = Duration.seconds(10)
  /// The time that a child has to write its stack after SIGABRT.
  private static let abortGrace = Duration.milliseconds(500)
  /// The maximum number of processes of a child. More would block the machine.
  private static let maximumProcesses = 100
  /// Why SIGSYS ended a process. Normally, a handler of SIGSYS answers a refused call.
  private static let whySIGSYS =
    ": it made a system call that plugins may not make, while SIGSYS was blocked or its handler was gone"
  /// How much of a child's output is kept in a report.
  private static let maximumOutput = 4000

  let plugin: String
  let options: Options
  let sources = KnownSources()
  private let runtime = LoadedRuntime()
  private let unended = Count()
  private let unresumed = Count()

  package init(plugin: String, options: Options) {
    self.plugin = plugin
    self.options = options
  }

  /// Runs the checks and returns their outcomes in the order of the checks. If the file is not a plugin, there is only one outcome,
  /// with the reason.
  ///
  /// - Parameter progress: Called when a check begins and when it has ended, on any thread.
  /// - Throws: ``ConformanceError`` if the plugin cannot be copied; an error of the system if no private folder can be made.
  package func run(
    _ checks: [Check], progress: @escaping @Sendable (Check, CheckOutcome?) -> Void = { _, _ in }
  ) throws -> Run {
    let staging = try ScratchFolder(for: .reading)
    let copy = "\(staging.path)/plugin.so"
    try Self.copy(plugin, to: copy)
    let (first, refusal) = prepare(copy)
    if let refusal { return refusal }
    let next = Atomic(0)
    let outcomes = Mutex<[CheckOutcome?]>(Array(repeating: nil, count: checks.count))
    let group = DispatchGroup()
    for _ in 0..<min(options.jobs, checks.count) {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        while true {
          let index = next.add(1, ordering: .relaxed).oldValue
          guard index < checks.count, !isStopped else { return }
          progress(checks[index], nil)
          let check = checks[index]
          let outcome =
            check.isFuzzing
            ? FuzzRun(self, check, copy).outcome()
            : check.id == first.outcome.check.id ? first.outcome : run(check, copy, options.trial).outcome
          outcomes.withLock { $0[index] = outcome }
          progress(checks[index], outcome)
        }
      }
    }
    group.wait()
    let all = outcomes.withLock { outcomes in
      zip(checks, outcomes).map { check, outcome in
        outcome
          ?? CheckOutcome(
            check: check, status: .skip(CheckOutcome.Status.stoppedReason), findings: [], duration: .zero, output: "")
      }
    }
    return Run(outcomes: Self.attributed(all), sanitizer: runtime.value.withLock(\.self)?.disturbingName)
  }

  /// Runs the first check, and prepares the others for the sanitizer that the plugin was built with.
  ///
  /// - Returns: The end of this check, and the whole run if the file is not a plugin or may not be tested so.
  func prepare(_ copy: String) -> (first: Ended, refusal: Run?) {
    let first = run(.wholeSharedObject, copy, options.trial)
    if let foreign = Self.foreign(first) { return (first, Run(outcomes: [foreign], isPlugin: false)) }
    guard let found = first.runtime else { return (first, nil) }
    if let reason = refusal(of: found) {
      let outcome = CheckOutcome(
        check: .wholeSharedObject, status: .harnessError(reason), findings: [], duration: first.outcome.duration, output: "")
      return (first, Run(outcomes: [outcome]))
    }
    runtime.value.withLock { $0 = found }
    return (first, nil)
  }

  /// Why a plugin with this sanitizer is not tested; nil if it is.
  private func refusal(of found: SanitizerRuntime) -> String? {
    if options.trial.isolation == .worker { return "it was built with \(found.name), which does not run in a worker" }
    guard found.comesFirst, !options.trial.capabilities.contains(SanitizerRuntime.capability) else { return nil }
    return
      "it was built with \(found.name), whose runtime is loaded before the plugin is confined, and has no limits of memory; if you "
      + "trust the plugin, pass --allow \(SanitizerRuntime.capability)"
  }

  /// The outcome of a file that is not a plugin, by the outcome of the first check; nil if the file may be one.
  private static func foreign(_ first: Ended) -> CheckOutcome? {
    if first.outcome.status == .fail { return first.outcome }
    guard let reason = first.foreignReason else { return nil }
    let check = Check.noteAndRegistration
    return CheckOutcome(
      check: check, status: .fail, findings: [Finding(check.id, .failure, reason)], duration: first.outcome.duration, output: "")
  }

  var isStopped: Bool {
    guard let stop = options.stop else { return false }
    var waited = pollfd(fd: stop, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waited, 1, 0) > 0
  }

  /// Checks that a path names a regular file that can be read.
  package static func check(path: String) throws(ConformanceError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, unsafe access(path, R_OK) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw ConformanceError(message: "\(path) cannot be read: \(reason); name the plugin's .so", cause: .path)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ConformanceError(message: "\(path) is not a regular file; name the plugin's .so", cause: .path)
    }
  }

  /// Copies the plugin, so that the original may change during the test.
  ///
  /// - Throws: ``ConformanceError`` if it is not a regular file or cannot be copied.
  static func copy(_ path: String, to target: String) throws {
    try check(path: path)
    do {
      try FileManager.default.copyItem(atPath: URL(filePath: path).resolvingSymlinksInPath().path, toPath: target)
      try FileManager.default.setAttributes([.posixPermissions: 0o550], ofItemAtPath: target)
      ScratchFolder.hand(target)
    } catch {
      throw ConformanceError(message: "\(path) cannot be copied to a private folder: \(error.localizedDescription)")
    }
  }

  /// The outcomes of a run.
  package struct Run: Sendable {
    /// In the order of the checks; if the file cannot be tested, there is only one, with the reason.
    package let outcomes: [CheckOutcome]
    package var isPlugin = true
    /// The sanitizer of the plugin, if it disturbs some checks.
    package var sanitizer: String?
  }

  // MARK: One check

  /// The outcome of a check, and its last step.
  struct Ended {
    var outcome: CheckOutcome
    var step = ""
    /// Why the file is not a plugin, although it is a shared object; nil if it may be one.
    var foreignReason: String?
    /// The sanitizer of the plugin, after the first check.
    var runtime: SanitizerRuntime?
  }

  func run(_ check: Check, _ copy: String, _ trial: TrialOptions) -> Ended {
    let start = ContinuousClock.now
    func outcome(
      _ status: CheckOutcome.Status, _ findings: [Finding] = [], _ output: String = "", step: String = ""
    ) -> Ended {
      Ended(
        outcome: CheckOutcome(check: check, status: status, findings: findings, duration: .now - start, output: output),
        step: step)
    }
    do {
      let child = try child(check, copy, trial, limit: timeLimit(of: check))
      let (ended, record, contents) = (child.ended, child.record, child.contents)
      options.trace?.add(record.events, of: check.id, plugin)
      let output = Self.tail(ended.output + ended.errors)
      var findings = contents.findings
      if findings.contains(where: { $0.check == "ER06" }) { unresumed.value.add(1, ordering: .relaxed) }
      if contents.strayLines > 0 {
        findings.append(Finding("PR02", .failure, "it wrote to a descriptor of the harness, which it did not open"))
      }
      if ended.leftovers > 0 {
        findings.append(Finding("PR01", .failure, "it left \(ended.leftovers) running processes"))
      }
      for index in findings.indices {
        findings[index].foundBy = check.id
        findings[index].stack = stack(findings[index].calls, copy)
      }
      var end = outcome(status(check, ended, contents, findings, record), findings, output, step: record.step)
      end.foreignReason = contents.foreignReason
      end.runtime = contents.runtime.flatMap { SanitizerRuntime(needed: [$0]) }
      end.outcome.stack = stack(of: child, copy)
      if end.outcome.hasDied { end.outcome.exchange = record.exchange }
      return end
    } catch {
      return outcome(.harnessError("\(error)"))
    }
  }

  /// A child that has ended.
  struct Child {
    let ended: WatchedProcess.Outcome
    let record: ChildStatusRecord
    let contents: TrialReport.Contents
  }

  /// Runs a child to its end.
  ///
  /// - Parameter more: Further arguments.
  func child(
    _ check: Check, _ copy: String, _ trial: TrialOptions, _ more: [String] = [], limit: Duration
  ) throws -> Child {
    let folder = try ScratchFolder(for: .writing)
    let nonce = String(UInt64.random(in: 0...(.max)), radix: 16) + String(UInt64.random(in: 0...(.max)), radix: 16)
    guard let record = ChildStatusRecord(nonce: nonce) else {
      throw ConformanceError(message: "no shared memory can be made")
    }
    var settings = WatchedProcess.Settings(environment: environment(folder.path))
    settings.directory = folder.path
    settings.hasReport = true
    settings.shared = record.descriptor
    settings.stop = options.stop
    settings.abortGrace = Self.abortGrace
    settings.lastOutput = Self.maximumOutput
    settings.maximumProcesses = Self.maximumProcesses
    let ended = try WatchedProcess.run(
      "/proc/self/exe", options.childArguments + arguments(check, copy, folder.path, trial) + more, settings, timeout: limit)
    return Child(ended: ended, record: record, contents: TrialReport.read(ended.report, nonce: nonce))
  }

  private func timeLimit(of check: Check) -> Duration {
    let isPatient = unended.value.load(ordering: .relaxed) < Self.patience
    return (isPatient ? check.timeLimit : min(check.timeLimit, Self.shortTimeLimit)) * options.timeScale
  }

  private func status(
    _ check: Check, _ ended: WatchedProcess.Outcome, _ contents: TrialReport.Contents, _ findings: [Finding],
    _ record: ChildStatusRecord
  ) -> CheckOutcome.Status {
    let place = [record.hook, record.step].filter { !$0.isEmpty }.joined(separator: ", ")
    switch ended.end {
    case .timeout:
      unended.value.add(1, ordering: .relaxed)
      return .timeout(hook: place)
    case .stopped: return .skip(CheckOutcome.Status.stoppedReason)
    case .crowd: return .crash("it had more than \(Self.maximumProcesses) processes and was killed with them", hook: place)
    case .flood: return .crash("it wrote too much to a descriptor of the harness and was killed", hook: place)
    case .signal(let signal):
      let runtime = runtime.value.withLock(\.self)
      if signal == SIGABRT, let runtime {
        // Before any code of the plugin has run.
        if place.isEmpty, let failure = runtime.failure(in: ended.errors) { return .harnessError(failure) }
        if let found = runtime.report(in: ended.errors) { return .crash(found, hook: place) }
      }
      let name = unsafe String(cString: strsignal(signal))
      return .crash("signal \(signal) (\(name))\(signal == SIGSYS ? Self.whySIGSYS : "")", hook: place)
    case .exit(let status):
      guard contents.isComplete else { return .crash("it ended the process with status \(status)", hook: place) }
      return Self.status(contents, findings.filter { $0.check == check.id })
    }
  }

  /// The outcome of a check that has ended, with the findings that count for it.
  static func status(_ contents: TrialReport.Contents, _ findings: [Finding]) -> CheckOutcome.Status {
    if let failure = contents.failure { return .harnessError(failure) }
    if findings.contains(where: { $0.severity == .failure }) { return .fail }
    if !findings.isEmpty { return .warn }
    guard let skip = contents.skip else { return .pass }
    return contents.hasNoInstance ? .untested(skip) : .skip(skip)
  }

  private func arguments(_ check: Check, _ copy: String, _ folder: String, _ trial: TrialOptions) -> [String] {
    var arguments = [
      "--check", check.id, "--plugin", copy, "--folder", folder, "--seed", "\(trial.seed)", "--effort", "\(trial.effort)",
      "--parent", "\(getpid())", "--confine", options.confinement.rawValue,
    ]
    if let configuration = trial.configuration { arguments += ["--config", configuration] }
    for capability in trial.capabilities.sorted() { arguments += ["--allow", capability] }
    for file in trial.files { arguments += ["--file", file] }
    if let last = trial.lastExchange { arguments += ["--last-exchange", "\(last)"] }
    if check.crosses { arguments += ["--isolation", trial.isolation.rawValue] }
    if options.trace != nil { arguments.append("--traced") }
    if unresumed.value.load(ordering: .relaxed) >= Self.patience { arguments.append("--impatient") }
    if check.isFuzzing {
      arguments += ["--first", "\(trial.cases.cases.lowerBound)", "--count", "\(trial.cases.cases.count)"]
      for place in trial.cases.kept?.sorted() ?? [] { arguments += ["--keep", "\(place)"] }
      if trial.cases.kept == [] { arguments += ["--keep-none"] }
    }
    return arguments
  }

  /// The environment of a child: only a few variables, and none with data of the caller.
  private func environment(_ folder: String) -> [String] {
    let own = ProcessInfo.processInfo.environment
    let runtime = runtime.value.withLock(\.self)
    var kept = ["PATH", "LANG", "LD_LIBRARY_PATH", "LSAN_OPTIONS", "CARABINER_LAUNCHER"]
    // The command itself may have been built with a sanitizer.
    if runtime == nil { kept += ["ASAN_OPTIONS", "TSAN_OPTIONS"] }
    // libdispatch logs to syslog that it may not raise the priority of a thread. A connection to syslog is refused and would be reported.
    return kept.compactMap { name in own[name].map { "\(name)=\($0)" } } + (runtime?.environment(own) ?? []) + [
      "HOME=\(folder)", "TMPDIR=\(folder)", "XDG_RUNTIME_DIR=\(folder)", "SWIFT_BACKTRACE=enable=no",
      "LIBDISPATCH_LOG=NO",
    ]
  }

  private static func tail(_ text: String) -> String {
    text.utf8.count <= maximumOutput ? text : "…" + String(text.suffix(maximumOutput))
  }

  /// Moves each finding to the check whose rule is broken, if another check found it.
  private static func attributed(_ outcomes: [CheckOutcome]) -> [CheckOutcome] {
    var foreign: [String: [Finding]] = [:]
    for outcome in outcomes {
      for finding in outcome.findings where finding.check != outcome.check.id {
        foreign[finding.check, default: []].note(finding)
      }
    }
    return outcomes.map { outcome in
      var outcome = outcome
      outcome.findings.removeAll { $0.check != outcome.check.id }
      for finding in foreign[outcome.check.id] ?? [] { outcome.findings.note(finding) }
      let isFailed = outcome.findings.contains { $0.severity == .failure }
      switch outcome.status {
      case .pass, .warn, .skip, .untested:
        if isFailed { outcome.status = .fail } else if !outcome.findings.isEmpty { outcome.status = .warn }
      case .fail, .crash, .timeout, .harnessError: break
      }
      return outcome
    }
  }

  /// The sanitizer of the plugin, for all threads of a run.
  private final class LoadedRuntime: Sendable {
    let value = Mutex<SanitizerRuntime?>(nil)
  }

  /// A number that all threads of a run share.
  private final class Count: Sendable {
    let value = Atomic(0)
  }
}
