internal import CCarabiner
internal import Carabiner
internal import CarabinerABI

/// One call of a hook, and what it answered at once.
struct HookInvocation {
  let hook: Hook
  let index: Int
  let verdict: crb_verdict
  /// When the hook was called, in nanoseconds of the monotonic clock; 0 if nobody traces. An instant of Swift's clock, whose size
  /// only its library knows, would cost more than the hook.
  let start: UInt64
  /// The hook answered CONTINUE and used no function of the host: there is nothing to check, to take out or to trace.
  let hasPassed: Bool
}
