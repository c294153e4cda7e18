internal import CCarabiner
internal import CarabinerABI
internal import CarabinerWorkers
internal import Synchronization

/// The calls under way in a worker, and the handles that the worker and the test host have for the same things.
final class WorkerCalls: Sendable {
  /// A call, as the worker knows it.
  struct Visit: Sendable {
    let instance: UInt32
    let kind: StageKind
    /// The lane of its last hook.
    var lane: Int
    /// The hook that is pending.
    var pending: WatchedWorker.Post?
    /// Whether the token of that hook was resumed.
    var wasResumed = false
    /// The verdict with which its last hook returned.
    var returned: crb_verdict?
    /// Whether the plugin has set a state.
    var hasState = false
    /// Whether the worker has memory for the call.
    var isKept = false
  }

  struct State: Sendable {
    var visits: [crb_call: Visit] = [:]
    /// The token of the test host for each token of the worker.
    var tokens: [UInt64: (call: crb_call, token: crb_token)] = [:]
    /// The last token of the test host for each call.
    var suspended: [crb_call: crb_token] = [:]
    /// The key of the test host for each key of the worker.
    var keys: [UInt32: crb_key] = [:]
    var lastInstance: UInt32 = 0
    /// The first failure of the harness.
    var failure: String?
    /// Hooks that were given up. Their plugin may read their messages.
    var abandoned: [WatchedWorker.Post] = []
  }

  let state = Mutex(State())

  func newInstance() -> UInt32 {
    state.withLock { state in
      state.lastInstance += 1
      return state.lastInstance
    }
  }

  func note(failure: String) { state.withLock { if $0.failure == nil { $0.failure = failure } } }

  func note(returned verdict: crb_verdict, hasState: Bool, _ handle: crb_call) {
    state.withLock { state in
      state.visits[handle]?.returned = verdict
      state.visits[handle]?.hasState = hasState
    }
  }

  /// Notes a token of the test host for a call. The token of the worker is noted later.
  func note(suspended handle: crb_call, _ token: crb_token) { state.withLock { $0.suspended[handle] = token } }

  func note(token: UInt64, of handle: crb_call) {
    state.withLock { state in
      guard let own = state.suspended[handle] else { return }
      if state.tokens.count >= Self.maximumTokens { state.tokens = [:] }
      state.tokens[token] = (handle, own)
    }
  }

  /// The maximum number of tokens. If it is reached, all are forgotten.
  private static let maximumTokens = 1 << 20

  /// Resumes a token of the worker.
  func resume(_ token: UInt64, with body: (crb_token) -> crb_status) -> crb_status {
    guard let known = state.withLock({ $0.tokens[token] }) else { return body(0) }
    let isArmed = TestHost.current.state.withLock { $0.tokens[known.token] != nil }
    // Set before the token is resumed, because the call continues at once.
    if isArmed { state.withLock { $0.visits[known.call]?.wasResumed = true } }
    let status = body(known.token)
    if isArmed, status != Status.ok { state.withLock { $0.visits[known.call]?.wasResumed = false } }
    return status
  }

  func note(key: UInt32, _ own: crb_key) { state.withLock { $0.keys[key] = own } }

  func key(_ key: UInt32) -> crb_key { state.withLock { $0.keys[key] ?? 0 } }
}
