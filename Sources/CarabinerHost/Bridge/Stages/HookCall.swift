internal import CCarabiner
internal import Carabiner

/// One call of a hook, and what it answered at once.
struct HookCall {
  let hook: Hook
  let index: Int
  let verdict: crb_verdict
  /// When the hook was called; nil if nobody traces.
  let start: ContinuousClock.Instant?
  /// The hook answered CONTINUE and used no function of the host: there is nothing to check, to take out or to trace.
  let hasPassed: Bool
}
