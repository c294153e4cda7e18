internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// Sends one call through one stage, like a host, and checks every step.
@safe final class ExchangeRunner {
  /// How hooks are called and waited for.
  struct Settings: Sendable {
    /// Whether each hook runs on its own thread.
    var changesThreads = false
    /// The stack of each hook's own thread; the usual one if nil.
    var stackBytes: Int?
    /// How long a pending hook may take to be resumed.
    var patience = Duration.seconds(10)
    /// How long a call may continue after it was cancelled.
    var grace = Duration.seconds(1)
    /// The maximum number of retries that a stage may request.
    var maximumRetries: UInt32 = 3
    /// The order of events for hooks that suspend; if nil, services answer after their delay.
    var schedule: Schedule?
    /// How often a call is retried although the stage did not ask for it, as if another stage did.
    var forcedRetries: UInt32 = 0
    /// Attempts that come before the exchange, as if another stage had asked for a retry after each.
    var earlierAttempts: [Exchange] = []
    /// The hook during which another thread cancels the call.
    var cancelsDuring: Hook?
    /// The hook in which another thread cancels the call when the plugin reads the event for the first time.
    var cancelsAtRead: Hook?
    /// How often all results, or all chunks, are sent.
    var repetitions = 1
    /// Whether the answers of hooks are kept.
    var keepsSteps = true
    /// Whether the head of a response has headers even for a stage that has not declared them.
    var givesAllHeaders = false
    /// Called just before each hook, and after it.
    var aroundHooks: (@Sendable (_ isBefore: Bool, Hook) -> Void)?
  }

  let testHost: TestHost
  let hooks: StageHooks
  let interceptor: String
  let instance: UnsafeMutableRawPointer?
  var settings = Settings()

  init(_ testHost: TestHost = .current, _ hooks: StageHooks, of interceptor: String, instance: UnsafeMutableRawPointer?) {
    self.testHost = testHost
    self.hooks = hooks
    self.interceptor = interceptor
    unsafe self.instance = unsafe instance
  }

  /// The state that the stage keeps for this call.
  var state: UnsafeMutableRawPointer?

  /// Sends an exchange through the stage, from its first hook to the release of its state.
  func travel(_ exchange: Exchange) -> ExchangeResult {
    ExchangeCounter.begin()
    defer { ExchangeCounter.end() }
    let call = TestHostCall(
      testHost.newCall(), hooks.kind, needs: hooks.needs, mutates: hooks.mutates,
      interceptor: interceptor, exchange: exchange, isGuarded: testHost.state.withLock { $0.isGuarded })
    call.changesThreads = settings.changesThreads
    call.isMalformed = exchange.isMalformed
    call.givesAllHeaders = settings.givesAllHeaders
    FlightRecord.note(exchange.name, inHook: false)
    testHost.open(call)
    unsafe state = nil
    var passage = ExchangeResult(exchange)
    var isInside = true
    let others = Array(repeating: exchange, count: Int(settings.forcedRetries))
    let attempts = settings.earlierAttempts + [exchange] + others
    // A host refuses a retry once a result was delivered. The chunks of an HTTP stage are not results yet.
    for (number, attempt) in attempts.enumerated()
    where isInside && (number == 0 || hooks.kind == .http || !hasForwarded(passage)) {
      beginAttempt(of: call, attempt, isFirst: number == 0)
      isInside = begin(call, attempt, &passage)
      if isInside { onward(call, attempt, &passage) }
    }
    // A retry keeps the stage's state. A host refuses a retry after an element was delivered.
    while isInside, passage.verdict == Verdict.retry, !hasForwarded(passage), call.attempt < settings.maximumRetries {
      beginAttempt(of: call, exchange)
      isInside = begin(call, exchange, &passage)
      if isInside { onward(call, exchange, &passage) }
    }
    if passage.wasCancelled, isInside { cancel(call) }
    testHost.state.withLock { _ in
      passage.wasCancelled = call.isCancelled
      passage.operation = call.operation
      passage.request = call.request
      passage.head = call.head
    }
    // The handle is stale in release(), which has no call.
    testHost.close(call)
    if let state = unsafe state, let release = unsafe hooks.release {
      testHost.enter("\(interceptor) \(hooks.kind.rawValue).release")
      unsafe release(instance, state)
      testHost.leave()
      passage.wasReleased = true
    }
    PluginWorker.current?.forget(call.handle)
    testHost.collectTouches(at: call.place)
    call.memory.forget()
    return passage
  }

  // MARK: The hooks in their order

  /// Runs the first hook, again for each retry that it asks for; returns whether the stage stays in the call.
  private func begin(_ call: TestHostCall, _ exchange: Exchange, _ passage: inout ExchangeResult) -> Bool {
    if hooks.kind == .parsing { setHead(of: call, exchange.head) }
    while true {
      let verdict =
        if hooks.kind == .parsing {
          unsafe run(
            call, .onHead, &passage, event: { unsafe $0.lendHead(of: exchange, call) },
            calling: { [self] head, state in
              unsafe hooks.onFirstHead?(instance, call.handle, state, head) ?? Verdict.continue
            })
        } else {
          unsafe run(
            call, hooks.kind == .cache ? .onRead : .onRequest, &passage, event: { _ in },
            calling: { [self] _, state in
              unsafe hooks.onRequest?(instance, call.handle, state) ?? Verdict.continue
            })
        }
      passage.attempts.append(
        testHost.state.withLock { _ in hooks.kind == .http ? call.request.headers : call.operation.headers })
      guard verdict == Verdict.retry, call.attempt < settings.maximumRetries else {
        return verdict == Verdict.continue || (hooks.kind == .cache && verdict == Verdict.respond)
      }
      beginAttempt(of: call, exchange)
    }
  }

  /// Whether an element has left the stage, after which a host refuses a retry. A parser keeps its chunks.
  private func hasForwarded(_ passage: ExchangeResult) -> Bool {
    hooks.kind == .parsing ? !passage.elements.isEmpty : passage.hasForwarded
  }

  /// Changes the call under its lock, because other threads of the plugin may read the attempt or the head at any time.
  ///
  /// Each attempt has the operation with its staged changes, and a new HTTP request.
  private func beginAttempt(of call: TestHostCall, _ exchange: Exchange, isFirst: Bool = false) {
    testHost.state.withLock { _ in
      if !isFirst { call.attempt += 1 }
      call.request = exchange.request
      call.head = nil
    }
  }

  private func setHead(of call: TestHostCall, _ head: HeadSample?) { testHost.state.withLock { _ in call.head = head } }

  /// Runs the hooks after the first one.
  private func onward(_ call: TestHostCall, _ exchange: Exchange, _ passage: inout ExchangeResult) {
    switch hooks.kind {
    case .graphQL, .cache:
      let hook: Hook = hooks.kind == .cache ? .onWrite : .onResult
      if hooks.kind == .cache, passage.verdict == Verdict.respond { return }
      guard unsafe hooks.onResult != nil, !exchange.results.isEmpty else { break }
      for number in 0..<(exchange.results.count * settings.repetitions) {
        let sample = exchange.results[number % exchange.results.count]
        let needs = hooks.needs
        let verdict = unsafe run(
          call, hook, &passage,
          event: { unsafe $0.lend($0.result(sample, number: UInt64(number), needs: needs), named: "a crb_result") },
          calling: { [self] result, state in
            unsafe hooks.onResult?(instance, call.handle, state.pointee, result) ?? Verdict.continue
          })
        guard verdict == Verdict.continue || verdict == Verdict.drop else { return }
      }
    case .http:
      guard runHead(call, exchange, &passage), runChunks(call, exchange, &passage) else { return }
    case .parsing:
      guard runChunks(call, exchange, &passage) else { return }
    }
    end(call, exchange, &passage)
  }

  private func runHead(_ call: TestHostCall, _ exchange: Exchange, _ passage: inout ExchangeResult) -> Bool {
    if case .error = exchange.ending, exchange.chunks.isEmpty { return true }
    setHead(of: call, exchange.head)
    guard unsafe hooks.onHead != nil else { return true }
    let verdict = unsafe run(
      call, .onHead, &passage, event: { unsafe $0.lendHead(of: exchange, call) },
      calling: { [self] head, state in
        unsafe hooks.onHead?(instance, call.handle, state.pointee, head) ?? Verdict.continue
      })
    return verdict == Verdict.continue
  }

  private func runChunks(_ call: TestHostCall, _ exchange: Exchange, _ passage: inout ExchangeResult) -> Bool {
    guard unsafe hooks.onChunk != nil else { return true }
    for number in 0..<(exchange.chunks.count * settings.repetitions) {
      let bytes = exchange.chunks[number % exchange.chunks.count]
      let verdict = unsafe run(
        call, .onChunk, &passage,
        event: { unsafe $0.lend($0.chunk(bytes, number: UInt64(number)), named: "a crb_chunk") },
        calling: { [self] chunk, state in
          unsafe hooks.onChunk?(instance, call.handle, state.pointee, chunk) ?? Verdict.continue
        })
      guard verdict == Verdict.continue || verdict == Verdict.drop else { return false }
    }
    return true
  }

  /// Ends the call, unless the stage has ended it.
  private func end(_ call: TestHostCall, _ exchange: Exchange, _ passage: inout ExchangeResult) {
    // A cache has no end of a call.
    guard hooks.kind != .cache else { return }
    switch exchange.ending {
    case .end:
      guard unsafe hooks.onEnd != nil else { return }
      unsafe run(
        call, .onEnd, &passage, event: { _ in },
        calling: { [self] _, state in
          unsafe hooks.onEnd?(instance, call.handle, state.pointee) ?? Verdict.continue
        })
    case .error(let sample):
      guard unsafe hooks.onError != nil else { return }
      testHost.state.withLock { _ in call.blamesPlugin = sample.flags & UInt32(CRB_ERROR_PLUGIN_FAULT) != 0 }
      unsafe run(
        call, .onError, &passage, event: { unsafe $0.lend($0.error(sample), named: "a crb_error") },
        calling: { [self] error, state in
          unsafe hooks.onError?(instance, call.handle, state.pointee, error) ?? Verdict.continue
        })
    case .cancel:
      passage.wasCancelled = true
    case .hidden: break
    }
  }

  /// Whether the call was cancelled so far, by any thread.
  func isCancelled(_ call: TestHostCall) -> Bool { testHost.state.withLock { _ in call.isCancelled } }

  /// Cancels the call, once.
  func cancel(_ call: TestHostCall) {
    let isFirst = testHost.state.withLock { _ in
      defer { call.isCancelled = true }
      return !call.isCancelled
    }
    guard isFirst, let onCancel = unsafe hooks.onCancel else { return }
    testHost.enter("\(interceptor) \(hooks.kind.rawValue).on_cancel")
    unsafe onCancel(instance, call.handle, state)
    testHost.leave()
  }
}
