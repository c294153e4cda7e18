internal import ArgumentParser
internal import CarabinerBridge
internal import CarabinerConformance
internal import CarabinerFiles
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

extension Confinement: ExpressibleByArgument {}
extension TrialIsolation: ExpressibleByArgument {}

/// `carabiner conform`: tests plugins against the contract.
struct ConformCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conform", abstract: "Test plugins against the rules of carabiner.h.",
    discussion: """
      Each check runs in its own process, with its own files and without a network, and is killed if it does not end. A plugin
      conforms at a level if it breaks no rule of that level or below: 1 it loads, 3 it is fit for a host, 5 it is fit to ship,
      7 it supports many threads, 9 it is clean below libc, 10 it passes all checks.

      With --isolation worker the plugin runs in a worker, as with `isolation: worker` in a manifest. Checks that look into the
      process of the plugin run as without it, and the report names them. A system call that a worker refused is a warning of
      PR03. The plugin conforms in a worker at a level if it conforms at that level and no call was refused.

      If no instance of the plugin can be created, there is no verdict: give its configuration with --config, and files that
      the configuration names with --file. With --check, only some rules are tested, and the report has no level.

      The report names the check and the exchange that provoked each finding, with a command that provokes it again.
      `carabiner conform --reproduce SE05:HI02:17:1 plugin.so` runs HI02 with the seed 1 until exchange 17 has ended, and exits
      with 1 if SE05 is broken again, and with 0 if not. With --debug instead of --reproduce, the same runs in this process, as in
      `gdb --args carabiner conform --debug SE05:HI02:17:1 plugin.so`.

      Exit status: 0 all rules are kept, 1 a rule is broken, a check crashed or did not end, no instance can be created, or the
      file is not a plugin, 2 usage, such as a file that does not exist, 3 the harness failed, such as a sandbox that cannot
      be built.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json, junit, sarif

    /// The report about all plugins.
    func text(_ reports: [ConformanceReport], isColoured: Bool) -> String {
      switch self {
      case .text: reports.map { ConformanceText(isColoured: isColoured).text($0) }.joined(separator: "\n\n")
      case .json: ConformanceReport.json(reports)
      case .junit: JUnitReport.text(reports)
      case .sarif: SARIFReport.text(reports)
      }
    }

    /// The name of the report's file in the output folder.
    var fileName: String {
      switch self {
      case .text: "report.txt"
      case .json: "report.json"
      case .junit: "junit.xml"
      case .sarif: "report.sarif"
      }
    }
  }

  @Argument(help: "The plugins' .so files.", completion: .file(extensions: ["so"])) var plugins: [String] = []
  @Option(name: .long, help: "Run the checks up to this level, 1 to 10.") var level = 5
  @Option(name: .long, help: "Run only these checks: ids or two-letter groups, separated by commas.")
  var check: [String] = []
  @Option(name: .long, help: "A file with the plugin's configuration. Without it, one is generated from the plugin's schema.")
  var config: String?
  @Option(
    name: .long,
    help: """
      A file or folder that the plugin may read, such as one that its configuration names. Repeat the option for more. The user of the \
      checks must be able to read it: 65534 if root runs the command.
      """,
    completion: .file())
  var file: [String] = []
  @Option(
    name: .long,
    help: """
      Permissions of the plugin besides the declarations of its note, separated by commas: libc functions that end or change the process, \
      such as abort,dlopen; varies if the same request may have different results; sanitizer for one that was built with AddressSanitizer \
      or ThreadSanitizer, whose runtime is loaded before the confinement and has no limits of memory.
      """)
  var allow: [String] = []
  @Option(name: .long, help: "The number of concurrent checks.") var jobs = ProcessInfo.processInfo.activeProcessorCount
  @Option(name: .long, help: "The seed of pseudo-random choices.") var seed: UInt64 = 1
  @Option(name: .long, help: "The factor for the time limits of checks, such as 2 for a slow machine.") var timeScale = 1.0
  @Option(name: .long, help: "The factor for the repetitions in checks: 1 for those on their pages, 0.1 for a quick run.")
  var effort = 1.0
  @Option(
    name: .long, help: "The confinement of the plugin: strict needs all of it, available uses what this system supports.")
  var confine: Confinement = .strict
  @Option(name: .long, help: "Where the plugin runs: in-process, or worker for checks that can run in a worker.")
  var isolation: TrialIsolation = .inProcess
  @Option(name: .long, help: "text, json, junit or sarif.") var format: Format = .text
  @Option(
    name: .long, help: "A folder for the report in every format. It is created if it does not exist.", completion: .directory)
  var output: String?
  @Option(name: .long, help: "The number of fuzzed cases of FZ01. The default is 1000 times --effort; 0 disables it.")
  var fuzz: Int?
  @Option(
    name: .long,
    help: """
      Provoke one finding again, as RULE:CHECK:EXCHANGE:SEED: run its check until the exchange has ended. As SEED:CASE, run one fuzzed \
      case again, and reduce it to the ingredients that matter.
      """)
  var reproduce: String?
  @Option(
    name: .long,
    help: """
      Run one check in this process, for a debugger: a check, a finding as RULE:CHECK:EXCHANGE:SEED, or a fuzzed case as SEED:CASE. The \
      plugin is not confined.
      """)
  var debug: String?
  @Option(name: .long, help: "Keep only these ingredients of the reproduced case, separated by commas.") var keep: String?
  @Option(
    name: .long, help: "A file for a trace of every check, hook by hook, for chrome://tracing or ui.perfetto.dev.",
    completion: .file(extensions: ["json"]))
  var trace: String?
  @Flag(name: .long, help: "Treat warnings as failures.") var werror = false
  @Flag(name: .long, help: "List the checks.") var list = false
  @Option(name: .long, help: "Explain a check: the rule, its reason, code that breaks it, and correct code.")
  var explain: String?

  func validate() throws {
    guard Catalog.levels.contains(level) else { throw ValidationError("--level is 1 to 10") }
    guard jobs > 0 else { throw ValidationError("--jobs must be at least 1") }
    guard timeScale > 0, timeScale <= 1000 else { throw ValidationError("--time-scale must be more than 0 and at most 1000") }
    guard effort > 0, effort <= 1000 else { throw ValidationError("--effort must be more than 0 and at most 1000") }
    if let fuzz, !(0...FuzzOrder.maximumCount).contains(fuzz) {
      throw ValidationError("--fuzz must be 0 to \(FuzzOrder.maximumCount)")
    }
    if let reproduce {
      guard FuzzCase(reproduce) != nil || Provocation(reproduce) != nil else {
        throw ValidationError(
          "--reproduce takes RULE:CHECK:EXCHANGE:SEED, as in SE05:HI02:17:1, or SEED:CASE, as in 1:17, and not \(reproduce)")
      }
      guard plugins.count == 1 else { throw ValidationError("--reproduce takes one plugin") }
    }
    guard keep == nil || reproduce.flatMap(FuzzCase.init) != nil else {
      throw ValidationError("--keep goes with --reproduce SEED:CASE")
    }
    if debug != nil {
      guard plugins.count == 1, reproduce == nil else { throw ValidationError("--debug takes one plugin, and no --reproduce") }
      guard isolation == .inProcess else { throw ValidationError("--debug runs the plugin in this process, not in a worker") }
    }
    if allow.flatMap(Self.listed).contains(SanitizerRuntime.capability), plugins.count > 1 {
      throw ValidationError(
        "--allow \(SanitizerRuntime.capability) takes one plugin, because it removes limits that protect this machine")
    }
    guard list || explain != nil || !plugins.isEmpty else { throw ValidationError("name a plugin's .so, or use --list") }
  }

  func run() async throws {
    if list { return Terminal.emit(CatalogText.list(format == .json)) }
    if let explain {
      guard let check = Catalog.check(explain) else { throw ValidationError(unknown(explain)) }
      return Terminal.emit(CatalogText.page(of: check))
    }
    if let reproduce, let one = FuzzCase(reproduce) { return try again(one) }
    if let reproduce, let one = Provocation(reproduce) { return try again(one) }
    if let debug { return try runHere(debug) }
    let checks = try selected()
    // Check the paths first, so that a wrong one does not waste a long run.
    if let output { try makeFolder(output) }
    let trace = try openTrace()
    for plugin in plugins { try endingOnError { try Supervisor.check(path: plugin) } }
    let interrupt = InterruptPipe()
    defer { interrupt.close() }
    var reports: [ConformanceReport] = []
    for plugin in plugins {
      reports.append(try endingOnError { try test(plugin, checks, trace, interrupt) })
      if format == .text { Terminal.emitColoured(format.text(reports.suffix(1), isColoured: Terminal.showsColours)) }
      if interrupt.wasRaised { break }
    }
    if format != .text { Terminal.emit(format.text(reports, isColoured: false)) }
    if let output { try write(reports, to: output) }
    if let failure = trace?.close() {
      Terminal.complain("error: the trace \(self.trace ?? "") cannot be written: \(failure)")
      throw ExitCode(3)
    }
    if reports.contains(where: \.hasHarnessErrors) { throw ExitCode(3) }
    if reports.contains(where: { !$0.isGood(warningsCount: werror) }) { throw ExitCode(1) }
    if interrupt.wasRaised { throw ExitCode(1) }
  }

  /// Shows an error and ends the command: with status 2 if an argument is wrong, and else with 3, because the harness failed.
  private func endingOnError<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as ValidationError {
      throw error
    } catch {
      Terminal.complain("error: \(error)")
      throw ExitCode((error as? ConformanceError)?.cause == .path ? 2 : 3)
    }
  }

  private func openTrace() throws -> TraceWriter? {
    guard let trace else { return nil }
    do { return try TraceWriter(path: trace) } catch {
      throw ValidationError("--trace: \(trace) cannot be written: \(error.localizedDescription)")
    }
  }

  private func supervisor(
    _ plugin: String, seed: UInt64, _ trace: TraceWriter?, _ interrupt: InterruptPipe
  ) throws -> Supervisor {
    var options = Supervisor.Options(
      childArguments: ["conform-trial"], jobs: jobs, timeScale: timeScale, trial: try trialOptions(seed: seed),
      stop: interrupt.descriptor)
    options.trace = trace
    options.confinement = confine
    return Supervisor(plugin: plugin, options: options)
  }

  private func trialOptions(seed: UInt64) throws -> TrialOptions {
    var trial = TrialOptions(
      configuration: try configuration(), seed: seed, capabilities: Set(allow.flatMap(Self.listed)), effort: effort)
    trial.isolation = isolation
    trial.files = try files()
    trial.cases = FuzzOrder(cases: 0..<(fuzz ?? max(1, Int(Double(FuzzOrder.usualCount) * effort))))
    return trial
  }

  /// Runs one check in this process, for a debugger, and ends the process.
  private func runHere(_ name: String) throws {
    let (finding, fuzzed) = (Provocation(name), FuzzCase(name))
    let id = fuzzed == nil ? finding?.check ?? name : Catalog.checks.first(where: \.isFuzzing)?.id ?? name
    guard let check = Catalog.check(id) else { throw ValidationError(unknown(id)) }
    let path = plugins[0]
    var options = try trialOptions(seed: finding?.seed ?? fuzzed?.seed ?? seed)
    if let finding, finding.exchange > 0 { options.lastExchange = finding.exchange }
    if let fuzzed { options.cases = FuzzOrder(cases: fuzzed.number..<(fuzzed.number + 1)) }
    try endingOnError { try Supervisor.check(path: path) }
    Terminal.complain(
      """
      \(check.id) runs in this process, without a time limit. The sandbox leaves open: \(Confinement.layerNames.joined(separator: ", ")). \
      Debug only plugins that you trust.
      An access to guarded memory is SIGSEGV, at which a debugger stops. The check notes it and goes on after `continue`.
      """)
    let order = TrialProcess.Order(
      check: check.id, plugin: URL(filePath: path).standardizedFileURL.path, options: options, parent: 0, confinement: .available)
    let (format, werror) = (format, werror)
    try endingOnError {
      try TrialProcess.debug(order, check) { outcome in
        let report = ConformanceReport(
          plugin: path, outcomes: [outcome], duration: outcome.duration, lookedAt: check.level, isPartial: true,
          warningsCount: werror)
        Terminal.emit(format.text([report], isColoured: false))
        return report.hasHarnessErrors ? 3 : report.isGood(warningsCount: werror) ? 0 : 1
      }
    }
  }

  /// Reproduces one fuzzed case.
  private func again(_ one: FuzzCase) throws {
    let places = try keep.map { text in
      try Set(
        text.split(separator: ",").map { word in
          guard let place = Int(word.trimmingCharacters(in: .whitespaces)), one.parts.indices.contains(place - 1) else {
            throw ValidationError("--keep: case \(one.name) has the ingredients 1 to \(one.parts.count), but not \(word)")
          }
          return place - 1
        })
    }
    let interrupt = InterruptPipe()
    defer { interrupt.close() }
    let found = try endingOnError {
      try FuzzReproduction(of: one, keeping: places, supervisor(plugins[0], seed: one.seed, nil, interrupt)) { count in
        if Terminal.isInteractive { Terminal.progress("case \(one.name) with \(count) ingredients") }
      }
    }
    if Terminal.isInteractive { Terminal.progress("") }
    Terminal.emit(format == .json ? found.json : found.text)
    if case .harnessError = found.outcome.status { throw ExitCode(3) }
    if found.isBroken { throw ExitCode(1) }
  }

  /// Provokes one finding again.
  private func again(_ one: Provocation) throws {
    guard Catalog.check(one.rule) != nil else { throw ValidationError(unknown(one.rule)) }
    guard let check = Catalog.check(one.check) else { throw ValidationError(unknown(one.check)) }
    guard !check.isFuzzing else { throw ValidationError("a finding of \(check.id) is reproduced as SEED:CASE") }
    let interrupt = InterruptPipe()
    defer { interrupt.close() }
    let found = try endingOnError {
      try FindingReproduction(of: one, check, supervisor(plugins[0], seed: one.seed, nil, interrupt))
    }
    Terminal.emit(format == .json ? found.json : found.text)
    if case .harnessError = found.outcome.status { throw ExitCode(3) }
    if found.cameAgain || interrupt.wasRaised { throw ExitCode(1) }
  }

  /// The options of this run that findings depend on.
  private var decidingOptions: [String] {
    var options: [String] = []
    if effort != 1 { options += ["--effort", "\(effort)"] }
    if timeScale != 1 { options += ["--time-scale", "\(timeScale)"] }
    if confine != .strict { options += ["--confine", confine.rawValue] }
    if isolation != .inProcess { options += ["--isolation", isolation.rawValue] }
    if let config { options += ["--config", config] }
    for path in file { options += ["--file", path] }
    for words in allow { options += ["--allow", words] }
    return options
  }

  private func test(
    _ plugin: String, _ checks: [Check], _ trace: TraceWriter?, _ interrupt: InterruptPipe
  ) throws -> ConformanceReport {
    let supervisor = try supervisor(plugin, seed: seed, trace, interrupt)
    let progress = ConformProgress(plugin: plugin, total: checks.count)
    let start = ContinuousClock.now
    let run = try supervisor.run(checks) { progress.note($0, $1) }
    progress.end()
    var report = ConformanceReport(
      plugin: plugin, outcomes: run.outcomes, duration: .now - start,
      lookedAt: check.isEmpty ? level : checks.map(\.level).max() ?? 0, isPartial: !check.isEmpty,
      warningsCount: werror, isolation: isolation, isPlugin: run.isPlugin)
    report.sanitizer = run.sanitizer
    report.seed = seed
    report.options = decidingOptions
    return report
  }

  /// The configuration as JSON text. The file may be YAML or JSON.
  private func configuration() throws -> String? {
    guard let config else { return nil }
    do {
      let text = try BoundedFile.text(at: config, maximumBytes: Manifest.maximumFileBytes)
      return try ManifestDocument(text).value.description
    } catch {
      throw ValidationError("--config: \(error)")
    }
  }

  /// The absolute paths of the files that the plugin may read.
  private func files() throws -> [String] {
    try file.map { path in
      guard FileManager.default.isReadableFile(atPath: path) else {
        throw ValidationError("--file: \(path) does not exist or cannot be read")
      }
      return URL(filePath: path).standardizedFileURL.path
    }
  }

  private func makeFolder(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      guard FileManager.default.isWritableFile(atPath: path) else { throw CocoaError(.fileWriteNoPermission) }
    } catch {
      throw ValidationError("--output: \(path) is not a folder that can be written to: \(error.localizedDescription)")
    }
  }

  private func write(_ reports: [ConformanceReport], to folder: String) throws {
    for format in Format.allCases {
      let path = "\(folder)/\(format.fileName)"
      do {
        try Data((format.text(reports, isColoured: false) + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
      } catch {
        Terminal.complain("error: the report \(path) cannot be written: \(error.localizedDescription)")
        throw ExitCode(3)
      }
    }
  }

  private func selected() throws -> [Check] {
    guard !check.isEmpty else { return Catalog.checks.filter { $0.level <= level && (fuzz != 0 || !$0.isFuzzing) } }
    var checks: [Check] = []
    // Refused calls of workers are warnings of this check, whichever check is running.
    let always = isolation == .worker ? [ConformanceReport.checkOfRefusedCalls] : []
    for name in check.flatMap(Self.listed) {
      let found = Catalog.checks.filter { $0.id == name.uppercased() || $0.group == name.uppercased() }
      guard !found.isEmpty else { throw ValidationError(unknown(name)) }
      if fuzz == 0, found.contains(where: \.isFuzzing) {
        throw ValidationError("--fuzz 0 leaves FZ01 out, but --check asks for it")
      }
      checks += found.filter { new in !checks.contains { $0.id == new.id } }
    }
    return checks + always.compactMap(Catalog.check).filter { new in !checks.contains { $0.id == new.id } }
  }

  private static func listed(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func unknown(_ name: String) -> String {
    "there is no check \(name)\(Suggestion.text(for: name.uppercased(), among: Catalog.checks.map(\.id))); --list shows them"
  }
}
