internal import CCarabiner
internal import CarabinerABI
internal import CarabinerManifest
internal import Logging
internal import Synchronization

/// Plugins that broke the contract, and what their circuit breakers are told.
extension PluginCallState {
  private static let logger = Logger(label: "carabiner.host")

  /// What is wrong with an answer, if anything.
  func violation(
    _ verdict: crb_verdict, _ answer: StagedEffects, _ hook: Hook, _ stage: StageBinding
  ) -> PluginError? {
    let name = stage.plugin.name
    guard Contract.allows(verdict, from: hook, of: stage.kind) else {
      return .fault(name, hook, "the verdict \(Verdict.name(verdict)) is not allowed in \(stage.kind.rawValue) \(hook.name)")
    }
    switch verdict {
    case Verdict.respond where !answer.hasElements && stage.kind != .http:
      return .fault(name, hook, "RESPOND without a staged result")
    case Verdict.respond where stage.kind == .http && answer.head == nil:
      return .fault(name, hook, "RESPOND without a staged head")
    case Verdict.recover where !answer.hasElements:
      return .fault(name, hook, "RECOVER without a staged result")
    case Verdict.continue where (hook == .onRequest || hook == .onRead) && answer.hasElements:
      return .fault(name, hook, "CONTINUE after staging a result; answer RESPOND")
    default: return nil
    }
  }

  /// Counts a FAIL, and gives its error.
  func failure(_ answer: StagedEffects, _ hook: Hook, at index: Int) -> PluginError {
    row.stages[index].plugin.statistics.failures.wrappingAdd(1, ordering: .relaxed)
    return answer.error
      ?? PluginError(
        code: .failed, entry: name(index), hook: hook.name,
        message: "the plugin failed the call without saying why; look at its log")
  }

  /// Counts a fault and goes on without the stage, if its entry says so.
  ///
  /// - Throws: The fault, if it does not.
  func passOver(_ fault: PluginError, at index: Int) throws -> (verdict: crb_verdict, answer: StagedEffects) {
    let plugin = row.stages[index].plugin
    plugin.statistics.faults.wrappingAdd(1, ordering: .relaxed)
    unproven.append(index)
    switch plugin.options.onFault {
    case .fail: throw fault
    case .skip: break
    case .openAfter:
      let probe = call.probe(of: plugin.breaker)
      plugin.breaker?.noteFault(probe)
      // Requests go without this plugin already, so one that only tried it is not to suffer.
      guard probe != nil, !plugin.options.isMandatory else { throw fault }
    }
    Self.logger.error("plugin fault passed over", metadata: ["entry": "\(plugin.name)", "fault": "\(fault.message)"])
    return (Verdict.continue, StagedEffects())
  }

  /// Tells the circuit breakers of plugins that kept the contract so.
  func tellBreakers() {
    for index in row.guarded where index < reach && !unproven.contains(index) {
      guard let breaker = row.stages[index].plugin.breaker else { continue }
      breaker.noteSuccess(call.probe(of: breaker))
    }
  }
}
