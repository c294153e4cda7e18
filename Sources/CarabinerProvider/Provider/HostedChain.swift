internal import CCarabiner
package import Carabiner
internal import CarabinerABI
package import CarabinerBridge
package import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// A running manifest: it loads the libraries, creates the instances, and provides the interceptors of every operation.
package final class HostedChain: InterceptorProvider {
  /// The key of a plan: the rules that apply, one per list. Operation names are not part of it, as clients choose them.
  private typealias PlanKey = StageMap<Int?>

  /// A plan without the plugins whose circuit breakers are open.
  private struct ReducedKey: Hashable {
    let rules: PlanKey
    let broken: Set<String>
  }

  private struct State {
    var overrides: StageOverrides
    var loadedPlugins: LoadedPlugins
    /// The entries whose files are revoked: mandatory ones refuse requests, others are left out.
    var withdrawn: Set<String> = []
    /// The plan of operations to which no rule applies, which are most.
    var base: CompiledPlan?
    var plans: [PlanKey: CompiledPlan] = [:]
    var reducedPlans: [ReducedKey: CompiledPlan] = [:]
    /// Counts changes, so that a plan compiled before a change is not stored after it.
    var changes = 0

    func plan(_ rules: PlanKey) -> CompiledPlan? { rules == HostedChain.noRules ? base : plans[rules] }

    mutating func keep(_ plan: CompiledPlan, for rules: PlanKey) {
      guard rules != HostedChain.noRules else {
        base = plan
        return
      }
      if plans.count >= HostedChain.maximumPlans { plans = [:] }
      plans[rules] = plan
    }

    mutating func keep(_ plan: CompiledPlan, for key: ReducedKey) {
      if reducedPlans.count >= HostedChain.maximumPlans { reducedPlans = [:] }
      reducedPlans[key] = plan
    }

    mutating func forgetPlans() {
      base = nil
      plans = [:]
      reducedPlans = [:]
      changes += 1
    }
  }

  private static let noRules = PlanKey { _ in nil }

  private static let logger = Logger(label: "carabiner.host")

  package let manifest: Manifest
  private let state: Mutex<State>
  /// Held while overrides change. Loading takes long, and requests must not wait for it.
  private let changing = Mutex(())
  private let limits: PluginLimits
  private let board: BreakerRegistry
  private let passesGraphQLErrors: Bool

  /// How many plans are kept. If a manifest has more, all are dropped and compiled again.
  private static let maximumPlans = 4096

  /// Loads all entries of a manifest that are not switched off.
  ///
  /// - Parameters:
  ///   - environment: Time and network for new plugin instances.
  ///   - store: The store for plugins with that grant. It should be the store of the client's transport.
  ///   - overrides: The plugins that are switched on and off.
  ///   - predecessor: The chain this one replaces. A plugin whose file and configuration are unchanged keeps its instance.
  ///     Another instance can receive the state of its predecessor.
  ///   - anew: Whether all instances are created again even if unchanged.
  ///   - generation: The number of this manifest in its host, counted from 1.
  ///   - crashLoop: The plugins that crashed the host earlier.
  ///   - passesGraphQLErrors: Whether GraphQL errors that the server sends as `application/json` with a status of 400 to 499
  ///     are results, as a gateway needs them, or fail the operation.
  ///   - isolation: The plugins that the environment puts into workers, whatever the manifest says; nil
  ///     for those of this process.
  ///   - launcher: The path of `carabiner-launcher`, with `carabiner-worker` beside it; nil for those of this host.
  ///   - clock: The time for circuit breakers, in nanoseconds of a monotonic clock; nil for the system's.
  /// - Throws: ``ManifestError``, or ``HostError`` with the entry.
  package init(
    _ manifest: Manifest, environment: HostEnvironment = .withoutLoop, store: ApolloStore? = nil,
    overrides: StageOverrides = StageOverrides(), replacing predecessor: HostedChain? = nil, anew: Bool = false,
    generation: UInt64 = 1, crashLoop: CrashLoopGuard? = nil, passesGraphQLErrors: Bool = false,
    isolation: IsolationOverrides? = nil, launcher: String? = nil,
    clock: (@Sendable () -> UInt64)? = nil
  ) throws {
    try Self.check(overrides, manifest)
    let isolation = isolation ?? IsolationOverrides(environment: ProcessInfo.processInfo.environment)
    try Self.check(isolation, manifest, isFirst: predecessor == nil)
    // Kept instances report to the board of the predecessor, so the new chain uses the same one.
    board = predecessor?.board ?? BreakerRegistry(now: clock ?? { MonotonicClock.nanoseconds })
    var loadedPlugins = LoadedPlugins(
      LoadedPlugins.Context(
        environment: environment, store: store, generation: generation, board: board, crashLoop: crashLoop,
        isolation: isolation, launcher: launcher))
    try loadedPlugins.load(manifest, replacing: predecessor?.current.loadedPlugins, anew: anew) { overrides.runs($0) }
    self.manifest = manifest
    self.passesGraphQLErrors = passesGraphQLErrors
    state = Mutex(State(overrides: overrides, loadedPlugins: loadedPlugins))
    var limits = PluginLimits()
    limits.maximumRetries = manifest.settings.pluginRetries
    limits.cancelGrace = manifest.settings.cancelGrace
    limits.maximumKeptBytes = manifest.settings.keptMemoryBytes
    self.limits = limits
  }

  deinit { withdraw([]) }

  /// The loaded libraries, by entry.
  package var libraries: [String: PluginLibrary] { state.withLock(\.loadedPlugins.libraries) }

  /// The files that plugins read in addition to their own, as named in their configurations.
  package var watchedFiles: [String] { state.withLock(\.loadedPlugins.watchedFiles) }

  /// The instance of an entry; nil if the entry is not a plugin or not loaded.
  package func instance(of entry: String) -> PluginInstance? { state.withLock { $0.loadedPlugins.instance(entry) } }

  // MARK: Provider

  package func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    guard board.areAllClosed else { return try reducedInterceptors(for: operation, context: context) }
    return compiled(operation.operationName, operation.operationType, context.route).interceptors(
      for: operation, context: context)
  }

  /// The interceptors while at least one circuit breaker is not closed, or a plugin is withdrawn.
  private func reducedInterceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    let plan = plan(operation.operationName, operation.operationType, context.route)
    let (loadedPlugins, withdrawn) = state.withLock { ($0.loadedPlugins, $0.withdrawn) }
    var broken: Set<String> = []
    var probes: [CircuitBreaker.Probe] = []
    // A request can only probe plugins that it passes.
    for name in Set(StageKind.allCases.flatMap { plan.active($0).map(\.name) }).sorted() {
      if withdrawn.contains(name) {
        guard isOptional(name) else { throw PluginError.revoked(name) }
        // Withdrawn since the plan above was made.
        broken.insert(name)
        continue
      }
      guard let instance = loadedPlugins.instance(name), let breaker = instance.breaker else { continue }
      switch breaker.admission() {
      case .pass: break
      case .probe(let probe): probes.append(probe)
      case .passOver:
        guard !instance.options.isMandatory else { throw PluginError.circuitOpen(name) }
        broken.insert(name)
      }
    }
    return compiled(operation.operationName, operation.operationType, context.route, leavingOut: broken)
      .interceptors(for: operation, context: context, probes: probes)
  }

  /// The stages that an operation passes.
  ///
  /// - Parameter path: The path of a gateway at which it arrives; nil for none.
  package func plan(_ operationName: String?, _ type: GraphQLOperationType, _ path: String? = nil) -> StagePlan {
    let (overrides, leftOut) = state.withLock { ($0.overrides, withdrawals(in: $0)) }
    return manifest.stagePlan(
      operationName: operationName, type: type, path: path, overrides: overrides, leavingOut: leftOut)
  }

  /// The plan of an operation. Operations with the same rules share one.
  func compiled(_ operationName: String?, _ type: GraphQLOperationType, _ path: String? = nil) -> CompiledPlan {
    let rules = manifest.ruleIndex.choice(operationName, type, path: path)
    if let known = state.withLock({ $0.plan(rules) }) { return known }
    return compile(rules, []) { $0.keep($1, for: rules) }
  }

  private func compiled(
    _ operationName: String?, _ type: GraphQLOperationType, _ path: String?, leavingOut broken: Set<String>
  ) -> CompiledPlan {
    guard !broken.isEmpty else { return compiled(operationName, type, path) }
    let key = ReducedKey(rules: manifest.ruleIndex.choice(operationName, type, path: path), broken: broken)
    if let known = state.withLock({ $0.reducedPlans[key] }) { return known }
    return compile(key.rules, broken) { $0.keep($1, for: key) }
  }

  /// Compiles a plan and stores it, unless the overrides changed in the meantime.
  private func compile(
    _ rules: PlanKey, _ broken: Set<String>, keep: (inout State, CompiledPlan) -> Void
  ) -> CompiledPlan {
    let (overrides, loadedPlugins, leftOut, changes) = state.withLock {
      ($0.overrides, $0.loadedPlugins, withdrawals(in: $0), $0.changes)
    }
    let open = StageDecision(isEnabled: false, source: .breaker)
    let stages = manifest.stagePlan(
      rules, overrides: overrides, leavingOut: broken.reduce(into: leftOut) { $0[$1] = open })
    let plan = CompiledPlan(
      stages, manifest: manifest, limits: limits, passesGraphQLErrors: passesGraphQLErrors, binding: loadedPlugins.binding,
      ffi: loadedPlugins.ffi)
    state.withLock { state in
      if state.changes == changes { keep(&state, plan) }
    }
    return plan
  }

  /// The entries that are left out although they are switched on. A withdrawn entry that is mandatory is not left out.
  private func withdrawals(in state: State) -> [String: StageDecision] {
    state.withdrawn.reduce(into: state.loadedPlugins.leftOut) { decisions, name in
      guard isOptional(name) else { return }
      decisions[name] = StageDecision(isEnabled: false, source: .revoked)
    }
  }

  private func isOptional(_ entry: String) -> Bool { manifest.plugin(named: entry)?.isMandatory == false }

  /// The entries that are left out now although they are switched on.
  func entriesLeftOut() -> [String: StageDecision] { state.withLock { withdrawals(in: $0) } }

  /// Leaves plugins out from the next request on, because their files are revoked. Requests of a mandatory one fail.
  ///
  /// - Parameter entries: All entries whose files are revoked.
  package func withdraw(_ entries: Set<String>) {
    state.withLock { state in
      guard state.withdrawn != entries else { return }
      // Requests look for withdrawn plugins only while a breaker is not closed.
      if state.withdrawn.isEmpty { board.noteOpened() }
      if entries.isEmpty { board.noteClosed() }
      state.withdrawn = entries
      state.forgetPlans()
    }
  }

  /// The overrides, and the loaded entries.
  var current: (overrides: StageOverrides, loadedPlugins: LoadedPlugins) { state.withLock { ($0.overrides, $0.loadedPlugins) } }

  // MARK: Overrides

  /// The plugins that are switched on and off.
  package var overrides: StageOverrides { state.withLock(\.overrides) }

  /// Switches plugins on and off from the next request on. Calls in flight keep their stages.
  ///
  /// A plugin that was off so far is loaded now.
  ///
  /// - Throws: ``ManifestError`` if a mandatory plugin is switched off or a live override matches no plugin; ``HostError`` if
  ///   a plugin that is switched on cannot be loaded. After an error nothing has changed.
  package func setOverrides(_ overrides: StageOverrides) throws {
    try changing.withLock { _ in
      try Self.check(overrides, manifest)
      var loadedPlugins = state.withLock(\.loadedPlugins)
      try loadedPlugins.load(manifest) { overrides.runs($0) }
      state.withLock { state in
        state.overrides = overrides
        state.loadedPlugins = loadedPlugins
        state.forgetPlans()
      }
    }
  }

  /// Refuses settings of workers that this system cannot apply, and logs warnings about them, as `carabiner check` does.
  private static func check(_ isolation: IsolationOverrides, _ manifest: Manifest, isFirst: Bool) throws {
    let problems = manifest.workerProblems(isolation)
    guard problems.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(problems)) }
    // A reload would only repeat them.
    guard isFirst else { return }
    for warning in manifest.warnings(about: isolation) + manifest.separatedFiles(isolation) {
      logger.warning("\(warning)", metadata: ["manifest": "\(manifest.path)"])
    }
  }

  private static func check(_ overrides: StageOverrides, _ manifest: Manifest) throws {
    let refusals = manifest.refusals(of: overrides)
    guard refusals.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(refusals)) }
  }
}
