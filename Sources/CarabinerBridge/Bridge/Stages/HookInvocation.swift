internal import CCarabiner
internal import Carabiner
internal import CarabinerABI

/// One call of a hook and the verdict that it returned.
struct HookInvocation {
  let hook: Hook
  let index: Int
  let verdict: crb_verdict
  /// When the hook was called, in nanoseconds of the monotonic clock; 0 without a trace. An instant of Swift's clock, whose size only
  /// its library knows, would cost more than the hook.
  let start: UInt64
  /// The hook returned CONTINUE and called no function of the host: there is nothing to check, to take or to trace.
  let hasPassed: Bool
}
