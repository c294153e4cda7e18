internal import CCarabiner
internal import CTestHost
internal import CarabinerBridge
internal import CarabinerFiles
internal import CarabinerWire
internal import Glibc
internal import Synchronization

/// The child process of a ``Supervisor``. It runs one check of one plugin.
package enum TrialProcess {
  /// The order to a child.
  package struct Order: Sendable {
    package let check: String
    package let plugin: String
    package var options: TrialOptions
    /// The supervisor's process; this one ends with it.
    package let parent: Int32
    package let confinement: Confinement
    /// Offsets of instructions of the plugin whose sources are wanted. Then no code of the plugin runs.
    package var instructions: [UInt64] = []

    package init(check: String, plugin: String, options: TrialOptions, parent: Int32, confinement: Confinement) {
      self.check = check
      self.plugin = plugin
      self.options = options
      self.parent = parent
      self.confinement = confinement
    }
  }

  /// The maximum size of a plugin in bytes, as in a host.
  private static let maximumPluginBytes = 512 << 20

  /// Confines this process to `folder`, runs the check and reports. It does not return.
  package static func run(_ order: Order, in folder: String) -> Never {
    let nonce = FlightRecord.takeNonce()
    CTestHost_traceOnAbort(2)
    if order.options.isolation == .worker { runWithWorker(order, nonce) }
    let missing = order.confinement.missingLayers(
      after: Confinement.confine(to: folder, reading: order.plugin, order.options.files, parent: order.parent))
    guard missing.isEmpty else {
      var contents = TrialReport.Contents()
      contents.failure = Confinement.refusal(for: missing)
      TrialReport.write(contents, nonce: nonce)
      _exit(0)
    }
    if !order.instructions.isEmpty {
      TrialReport.write(sources(of: order), nonce: nonce)
      _exit(0)
    }
    CTestHost_catchTouches()
    unsafe CTestHost_keepStack(FlightRecord.shared)
    if order.options.isImpatient { TestHost.current.state.withLock { $0.abandonedHooks = 1 } }
    if order.options.isTraced { unsafe CTestHost_openTrace(FlightRecord.shared) }
    let notes = TrialNotes(check: order.check)
    let declared = Mutex(order.options.capabilities)
    let finish: @Sendable (TrialReport.Contents) -> Void = { contents in
      var contents = contents
      contents.findings = notes.withBreaches
      let refused = RefusedCalls.now
      contents.findings += refused.findings(declared: declared.withLock(\.self))
      if let text = refused.text { Confinement.say(text) }
      TrialReport.write(contents, nonce: nonce)
    }
    endEarly(order, finish)
    finish(contents(of: order, notes) { more in declared.withLock { $0.formUnion(more) } })
    // No destructors of the plugin run here; LC09 checks them.
    if Catalog.check(order.check)?.endsOrderly == true { exit(0) }
    _exit(0)
  }

  /// Ends the check after the last exchange that is wanted, if there is one.
  static func endEarly(_ order: Order, _ finish: @escaping @Sendable (TrialReport.Contents) -> Void) {
    guard let last = order.options.lastExchange else { return }
    ExchangeCounter.finish(after: last) {
      finish(TrialReport.Contents())
      _exit(0)
    }
  }

  /// Runs the check with the plugin in a worker. No code of the plugin runs in this process, so it is not confined.
  private static func runWithWorker(_ order: Order, _ nonce: String) -> Never {
    // If the worker crashes, so does this process, without a core dump.
    var none = rlimit()
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    TestHost.current.state.withLock { $0.isGuarded = false }
    if order.options.isTraced { unsafe CTestHost_openTrace(FlightRecord.shared) }
    let notes = TrialNotes(check: order.check)
    let finish: @Sendable (TrialReport.Contents) -> Void = { contents in
      var contents = contents
      contents.findings = notes.withBreaches
      if let end = PluginWorker.current?.finish() {
        contents.findings += end.findings
        contents.failure = contents.failure ?? end.failure
        if let text = end.text { Confinement.say(text) }
      }
      TrialReport.write(contents, nonce: nonce)
    }
    endEarly(order, finish)
    finish(contents(of: order, notes) { _ in })
    _exit(0)
  }

  /// Finds the sources of the wanted instructions.
  private static func sources(of order: Order) -> TrialReport.Contents {
    var contents = TrialReport.Contents()
    guard let bytes = try? BoundedFile.bytes(at: order.plugin, maximumBytes: Self.maximumPluginBytes),
      let object = try? SharedObject(bytes)
    else { return contents }
    contents.sources = object.sources(of: order.instructions)
    return contents
  }

  /// Runs the check.
  ///
  /// - Parameter declare: Called with the capabilities of the plugin's note.
  /// - Returns: The report without the findings, which are in the notes and in the test host.
  static func contents(
    of order: Order, _ notes: TrialNotes, declare: (Set<String>) -> Void
  ) -> TrialReport.Contents {
    var contents = TrialReport.Contents()
    guard let check = Catalog.check(order.check) else {
      contents.failure = "there is no check \(order.check)"
      return contents
    }
    do {
      try examine(check, notes, order, &contents, declare)
    } catch let skip as TrialNotes.Skip {
      contents.skip = skip.reason
      contents.hasNoInstance = skip.hasNoInstance
    } catch {
      contents.failure = "\(error)"
    }
    return contents
  }

  /// Runs a check with each interceptor.
  ///
  /// - Throws: The reason to skip, if the check applies to none of them, or one of them has no instance.
  private static func examineEach(_ interceptors: [InterceptorTrial], _ body: (InterceptorTrial) throws -> Void) throws {
    var skips: [TrialNotes.Skip] = []
    for interceptor in interceptors {
      do { try body(interceptor) } catch let skip as TrialNotes.Skip { skips.append(skip) }
    }
    if let skip = skips.first(where: \.hasNoInstance) { throw skip }
    if let skip = skips.first, skips.count == interceptors.count { throw skip }
  }

  /// Runs a check. The first one also reports what kind of file it is.
  private static func examine(
    _ check: Check, _ notes: TrialNotes, _ order: Order, _ contents: inout TrialReport.Contents,
    _ declare: (Set<String>) -> Void
  ) throws {
    var options = order.options
    let bytes = try BoundedFile.bytes(at: order.plugin, maximumBytes: Self.maximumPluginBytes)
    let image = try? ELFImage(bytes)
    let links = try? image?.dynamicLinks()
    let runtime = SanitizerRuntime(needed: links?.libraries ?? [])
    if check.id == Check.wholeSharedObject.id {
      contents.foreignReason = Check.foreignReason(bytes, order.plugin)
      contents.runtime = runtime?.library
    }
    if let runtime, runtime.comesFirst { try require(runtime, for: check) }
    if let image, let note = try? PluginNote(of: image, path: order.plugin) {
      options.capabilities.formUnion(note.capabilities)
      declare(note.capabilities)
      // The Swift libraries are loaded first, as in a host. If one is missing, LD03 reports it.
      if let links { try? SwiftRuntime.prepare(for: links, builtWith: note.swiftVersion, path: order.plugin) }
    }
    switch check.trial {
    case .file(let body):
      try body(FileTrial(notes: notes, path: order.plugin, bytes: bytes, options: options))
    case .loading(let body):
      try body(LoadingTrial(notes: notes, path: order.plugin, bytes: bytes, options: options))
    case .cases(let body):
      try body(LoadingTrial(notes: notes, path: order.plugin, bytes: bytes, options: options), options.cases)
    case .interceptor(let body):
      let loading = LoadingTrial(notes: notes, path: order.plugin, bytes: bytes, options: options)
      let library = try loading.library()
      try examineEach(loading.interceptors(of: library), body)
    }
  }

  /// - Throws: Why a check cannot run with a runtime that must be loaded first, or would prove nothing.
  private static func require(_ runtime: SanitizerRuntime, for check: Check) throws {
    if let reason = check.sanitizerReason { throw TrialNotes.Skip(reason) }
    guard check.loadsPlugin, !Confinement.isSanitized else { return }
    throw ConformanceError(
      message:
        "\(runtime.library) of \(runtime.name) must be loaded first; name its folder in LD_LIBRARY_PATH, and with --debug set "
        + "LD_PRELOAD, as in gdb -ex 'set environment LD_PRELOAD \(runtime.library)'")
  }
}

extension TrialNotes {
  /// The findings, with the breaches that the test host has noted.
  var withBreaches: [Finding] {
    for breach in TestHost.current.takeBreaches() { add(breach) }
    return findings
  }
}
