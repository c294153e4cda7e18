internal import CCarabiner
package import Carabiner
package import CarabinerManifest
internal import CarabinerWire
internal import Synchronization

/// A manifest brought to life: libraries loaded, instances made, and an interceptor provider for every operation.
package final class HostedChain: InterceptorProvider {
  /// What tells plans apart: the rules that put their stages in place, and not the names of operations, which clients choose.
  private typealias PlanKey = StageMap<Int?>

  /// A plan without the plugins whose circuit breakers are open.
  private struct ReducedKey: Hashable {
    let rules: PlanKey
    let broken: Set<String>
  }

  private struct State {
    var overrides: StageOverrides
    var loadedPlugins: LoadedPlugins
    /// The plan of operations that no rule is for, which are most.
    var base: CompiledPlan?
    var plans: [PlanKey: CompiledPlan] = [:]
    var reducedPlans: [ReducedKey: CompiledPlan] = [:]
    /// Counts the changes, so that a plan compiled before one is not kept after it.
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

  package let manifest: Manifest
  private let state: Mutex<State>
  /// Held while overrides change: loading takes long, and requests must not wait for it.
  private let changing = Mutex(())
  private let limits: PluginLimits
  private let board: BreakerRegistry
  private let passesGraphQLErrors: Bool

  /// How many plans are remembered. When there are more, which takes very many rules, all are forgotten.
  private static let maximumPlans = 4096

  /// Loads everything a manifest names and nobody switched off.
  ///
  /// - Parameters:
  ///   - environment: Time and network for the plugins that are made now.
  ///   - store: What plugins get that are granted the store; it should be that of the client's transport.
  ///   - predecessor: The chain this one takes the place of. A plugin whose file and configuration are the same keeps its instance;
  ///     another may get what its last one had learnt.
  ///   - anew: Whether all instances are made anew nevertheless.
  ///   - generation: Which one of a host's manifests this is, counted from 1.
  ///   - crashLoop: What is known of plugins that killed the host.
  ///   - passesGraphQLErrors: Whether GraphQL errors that the server sends as `application/json` with a status of 400 to 499 are
  ///     results, as a gateway needs them, or fail the operation.
  ///   - clock: What time it is for circuit breakers, in nanoseconds of a clock that never goes back; nil for the system's.
  /// - Throws: ``ManifestError``, or ``LoadRefusal`` with the entry it is about.
  package init(
    _ manifest: Manifest, environment: HostEnvironment = .withoutLoop, store: ApolloStore? = nil,
    overrides: StageOverrides = StageOverrides(), replacing predecessor: HostedChain? = nil, anew: Bool = false,
    generation: UInt64 = 1, crashLoop: CrashLoopGuard? = nil, passesGraphQLErrors: Bool = false,
    clock: (@Sendable () -> UInt64)? = nil
  ) throws {
    try Self.check(overrides, manifest)
    // Instances that stay are told from the same board whether all is well.
    board = predecessor?.board ?? BreakerRegistry(now: clock ?? { MonotonicClock.nanoseconds })
    var loadedPlugins = LoadedPlugins(
      LoadedPlugins.Surroundings(
        environment: environment, store: store, generation: generation, board: board, crashLoop: crashLoop))
    try loadedPlugins.bringUp(manifest, replacing: predecessor?.current.loadedPlugins, anew: anew) { overrides.runs($0) }
    self.manifest = manifest
    self.passesGraphQLErrors = passesGraphQLErrors
    state = Mutex(State(overrides: overrides, loadedPlugins: loadedPlugins))
    var limits = PluginLimits()
    limits.maximumRetries = manifest.settings.pluginRetries
    limits.cancelGrace = manifest.settings.cancelGrace
    limits.maximumKeptBytes = manifest.settings.keptMemoryBytes
    self.limits = limits
  }

  /// The libraries that are loaded, by entry.
  package var libraries: [String: PluginLibrary] { state.withLock(\.loadedPlugins.libraries) }

  /// The files that plugins read beside their own, as their configurations name them.
  package var watchedFiles: [String] { state.withLock(\.loadedPlugins.watchedFiles) }

  /// The instance of an entry; nil if it is none of a plugin's, or not loaded.
  package func instance(of entry: String) -> PluginInstance? { state.withLock { $0.loadedPlugins.instance(entry) } }

  // MARK: Provider

  package func interceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    guard board.areAllClosed else { return try reducedInterceptors(for: operation, context: context) }
    return compiled(operation.operationName, operation.operationType).interceptors(for: operation, context: context)
  }

  /// Interceptors while some circuit breaker is not closed.
  private func reducedInterceptors<Operation: GraphQLOperation>(
    for operation: Operation, context: RequestContext
  ) throws -> RequestInterceptors {
    let plan = plan(operation.operationName, operation.operationType)
    let loadedPlugins = state.withLock(\.loadedPlugins)
    var broken: Set<String> = []
    var probes: [CircuitBreaker.Probe] = []
    // Only what the request passes may be tried by it.
    for name in Set(StageList.allCases.flatMap { plan.active($0).map(\.name) }).sorted() {
      guard let instance = loadedPlugins.instance(name), let breaker = instance.breaker else { continue }
      switch breaker.admission() {
      case .pass: break
      case .probe(let probe): probes.append(probe)
      case .passOver:
        guard !instance.options.isMandatory else { throw PluginError.circuitOpen(name) }
        broken.insert(name)
      }
    }
    return compiled(operation.operationName, operation.operationType, leavingOut: broken)
      .interceptors(for: operation, context: context, probes: probes)
  }

  /// The stages an operation passes.
  package func plan(_ operationName: String?, _ type: GraphQLOperationType) -> StagePlan {
    let (overrides, loadedPlugins) = current
    return manifest.stagePlan(operationName: operationName, type: type, overrides: overrides, leavingOut: loadedPlugins.leftOut)
  }

  /// The plan of an operation; operations that no rule tells apart share one.
  func compiled(_ operationName: String?, _ type: GraphQLOperationType) -> CompiledPlan {
    let rules = manifest.ruleIndex.choice(operationName, type)
    if let known = state.withLock({ $0.plan(rules) }) { return known }
    return compile(rules, []) { $0.keep($1, for: rules) }
  }

  private func compiled(
    _ operationName: String?, _ type: GraphQLOperationType, leavingOut broken: Set<String>
  ) -> CompiledPlan {
    guard !broken.isEmpty else { return compiled(operationName, type) }
    let key = ReducedKey(rules: manifest.ruleIndex.choice(operationName, type), broken: broken)
    if let known = state.withLock({ $0.reducedPlans[key] }) { return known }
    return compile(key.rules, broken) { $0.keep($1, for: key) }
  }

  /// Compiles a plan, and keeps it unless something has changed meanwhile.
  private func compile(
    _ rules: PlanKey, _ broken: Set<String>, keep: (inout State, CompiledPlan) -> Void
  ) -> CompiledPlan {
    let (overrides, loadedPlugins, changes) = state.withLock { ($0.overrides, $0.loadedPlugins, $0.changes) }
    let open = StageDecision(isEnabled: false, source: .breaker)
    let stages = manifest.stagePlan(
      rules, overrides: overrides, leavingOut: broken.reduce(into: loadedPlugins.leftOut) { $0[$1] = open })
    let plan = CompiledPlan(
      stages, manifest: manifest, limits: limits, passesGraphQLErrors: passesGraphQLErrors, binding: loadedPlugins.binding,
      ffi: loadedPlugins.ffi)
    state.withLock { state in
      if state.changes == changes { keep(&state, plan) }
    }
    return plan
  }

  /// Who switched what on and off, and what is loaded.
  var current: (overrides: StageOverrides, loadedPlugins: LoadedPlugins) { state.withLock { ($0.overrides, $0.loadedPlugins) } }

  // MARK: Overrides

  /// Who switched what on and off.
  package var overrides: StageOverrides { state.withLock(\.overrides) }

  /// Switches plugins on and off, for the next request; calls under way keep the stages they have.
  ///
  /// A plugin that was off from the start is loaded now.
  ///
  /// - Throws: ``ManifestError`` if a mandatory plugin were switched off, or a live override fits no plugin; ``LoadRefusal`` if one
  ///   that is switched on cannot be loaded. Then nothing has changed.
  package func setOverrides(_ overrides: StageOverrides) throws {
    try changing.withLock { _ in
      try Self.check(overrides, manifest)
      var loadedPlugins = state.withLock(\.loadedPlugins)
      try loadedPlugins.bringUp(manifest) { overrides.runs($0) }
      state.withLock { state in
        state.overrides = overrides
        state.loadedPlugins = loadedPlugins
        state.forgetPlans()
      }
    }
  }

  private static func check(_ overrides: StageOverrides, _ manifest: Manifest) throws {
    let refusals = manifest.refusals(of: overrides)
    guard refusals.isEmpty else { throw ManifestError(path: manifest.path, problems: manifest.placed(refusals)) }
  }
}
