internal import CCarabiner
internal import CarabinerABI
internal import CarabinerManifest
internal import Logging
internal import Synchronization

/// Plugins that broke the contract, and the reports to their circuit breakers.
extension GroupCall {
  private static let logger = Logger(label: "carabiner.host")

  /// The rule that a verdict and its effects break; nil if they break none.
  func violation(
    _ verdict: crb_verdict, _ effects: StagedEffects, _ hook: Hook, _ stage: StageBinding
  ) -> PluginError? {
    let name = stage.plugin.name
    if verdict == Verdict.lost, let loss = remote.takeLoss() { return loss }
    guard Contract.allows(verdict, from: hook, of: stage.kind) else {
      return .fault(name, hook, "the verdict \(Verdict.name(verdict)) is not allowed in \(stage.kind.rawValue) \(hook.name)")
    }
    switch verdict {
    case Verdict.respond where !effects.hasElements && stage.kind != .http:
      return .fault(name, hook, "RESPOND without a staged result")
    case Verdict.respond where stage.kind == .http && effects.head == nil:
      return .fault(name, hook, "RESPOND without a staged head")
    case Verdict.recover where !effects.hasElements:
      return .fault(name, hook, "RECOVER without a staged result")
    case Verdict.continue where (hook == .onRequest || hook == .onRead) && effects.hasElements:
      return .fault(name, hook, "CONTINUE after staging a result; answer RESPOND")
    default: return nil
    }
  }

  /// Counts a FAIL and returns its error.
  func failure(_ effects: StagedEffects, _ hook: Hook, at index: Int) -> PluginError {
    stages.plugin(index).counters.failures.wrappingAdd(1, ordering: .relaxed)
    return effects.error
      ?? PluginError(
        code: .failed, entry: stages.name(index), hook: hook.name,
        message: "the plugin failed the call without saying why; look at its log")
  }

  /// Counts a fault and continues without the stage, if its entry allows that.
  ///
  /// - Throws: The fault, if the entry does not allow that.
  func passOver(_ fault: PluginError, at index: Int) throws -> (verdict: crb_verdict, effects: StagedEffects) {
    let plugin = stages.plugin(index)
    let isCounted = index == stages.countedStage
    if fault.countsForBreaker, !isCounted { plugin.counters.faults.wrappingAdd(1, ordering: .relaxed) }
    stages.unproven.append(index)
    switch plugin.options.onFault {
    case .fail: throw fault
    case .skip: break
    case .openAfter where !fault.countsForBreaker: if plugin.options.isMandatory { throw fault }
    case .openAfter:
      let probe = pass.shared?.probe(of: plugin.breaker)
      if !isCounted { plugin.breaker?.noteFault(probe) }
      // If the probe request fails, it continues without the plugin, as all other requests do.
      guard probe != nil, !plugin.options.isMandatory else { throw fault }
    }
    Self.logger.error("plugin fault passed over", metadata: ["entry": "\(plugin.name)", "fault": "\(fault.message)"])
    return (Verdict.continue, StagedEffects())
  }

  /// Counts a fault of a stage whose hook ran ahead of the chain, once. The chain may not reach the stage itself.
  package func noteFault(at index: Int) {
    guard index != stages.countedStage else { return }
    stages.countedStage = index
    let plugin = stages.plugin(index)
    plugin.counters.faults.wrappingAdd(1, ordering: .relaxed)
    stages.unproven.append(index)
    if case .openAfter = plugin.options.onFault { plugin.breaker?.noteFault(pass.shared?.probe(of: plugin.breaker)) }
  }
}
