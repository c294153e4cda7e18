internal import CCarabiner
internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWorkers
internal import Glibc
internal import Synchronization

/// The plugin under test in a worker. This process is its host.
///
/// The test host calls the functions of this type like those of a plugin in its process, and they run in the worker. If the plugin
/// calls a function of the host there, the call comes back as a question. The test host judges the questions in their order.
final class PluginWorker: Sendable {
  /// The end of a test with a worker.
  struct End {
    var findings: [Finding]
    let failure: String?
    /// A line for the output of the check; nil if no system call was refused.
    let text: String?
  }

  /// The size of the shared memory in bytes. A message may have half of it.
  private static let arenaBytes = 512 << 20
  private static let memoryBytes = 1 << 30
  /// The maximum number of abandoned hooks whose messages are kept in one lane.
  private static let maximumAbandoned = 64
  /// The time limit for the answer of a resumed hook. It is generous for busy machines.
  private static let patience = Duration.seconds(60)

  private let worker: WatchedWorker
  private let interceptors: [WatchedInterceptor]
  private let calls: WorkerCalls
  private var testHost: TestHost { .current }

  private static let loaded = Mutex<PluginWorker?>(nil)
  /// The worker of this process, which tests one plugin; nil if the plugin runs here.
  static var current: PluginWorker? { loaded.withLock(\.self) }

  private init(_ worker: WatchedWorker, _ interceptors: [WatchedInterceptor], _ calls: WorkerCalls) {
    self.worker = worker
    self.interceptors = interceptors
    self.calls = calls
  }

  /// Starts a worker and maps the plugin there.
  ///
  /// - Parameters:
  ///   - path: The plugin's file.
  ///   - files: Further files and folders that it may read.
  ///   - confinement: Whether the worker needs all layers of its confinement.
  ///   - host: The table that it is registered with.
  /// - Returns: The plugin's table with functions of this process.
  static func load(
    _ path: String, reading files: [String], _ confinement: Confinement, _ host: UnsafePointer<crb_host>
  ) throws -> UnsafePointer<crb_plugin> {
    var settings = WorkerSettings(group: "conform")
    settings.lanes = 4
    settings.arenaBytes = arenaBytes
    settings.memoryBytes = memoryBytes
    settings.readablePaths = (files + NamedLibraries.paths(of: path)).sorted()
    settings.confinement = confinement == .strict ? .strict : .available
    let user = geteuid() == 0 ? WorkerOwner(user: Confinement.user, group: Confinement.group) : nil
    let calls = WorkerCalls()
    let answers = unsafe WorkerAnswers(host, calls)
    let worker = try WatchedWorker(path, settings, user: user) { worker, question in answers.status(of: question, worker) }
    do {
      let loaded = unsafe try worker.load()
      let plugin = unsafe PluginWorker(worker, loaded.interceptors, calls)
      unsafe WorkerStages.connect(loaded.table, loaded.interceptors)
      Self.loaded.withLock { $0 = plugin }
      return unsafe loaded.table
    } catch {
      // A constructor may have ended it.
      if worker.end != nil { endAs(worker) }
      throw error
    }
  }

  // MARK: Instances

  private func number(of interceptor: PluginInterceptor) -> Int { interceptors.firstIndex { $0.id == interceptor.id } ?? 0 }

  /// Calls validate() in the worker; nil if it accepts.
  func validate(_ interceptor: PluginInterceptor, _ configuration: String) -> CreationFailure? {
    testHost.enter("\(interceptor.id) validate")
    defer { testHost.leave() }
    return unlessEnded { try worker.validate(number(of: interceptor), configuration) }.map {
      CreationFailure(status: $0.status, reason: $0.text, isValidation: true, leftInstance: false)
    }
  }

  /// Calls validate() and create() in the worker.
  ///
  /// - Returns: The number of the instance, as a pointer that is never followed.
  func create(_ interceptor: PluginInterceptor, _ configuration: String, _ name: String) throws -> UnsafeMutableRawPointer? {
    let number = calls.newInstance()
    testHost.enter("\(interceptor.id) create")
    defer { testHost.leave() }
    let failure = unlessEnded { try worker.create(number, self.number(of: interceptor), configuration, name: name) }
    if let failure {
      throw CreationFailure(
        status: failure.status, reason: failure.text, isValidation: failure.step == "validate", leftInstance: false)
    }
    return unsafe UnsafeMutableRawPointer(bitPattern: UInt(number))
  }

  func drain(_ instance: UInt32) {
    worker.drain(instance)
    checkEnd()
  }

  func destroy(_ instance: UInt32) {
    worker.destroy(instance)
    checkEnd()
  }

  private func unlessEnded<Value>(_ body: () throws -> Value) -> Value {
    do { return try body() } catch {
      // An operation fails only if the worker has ended or is about to end.
      while worker.end == nil { usleep(1000) }
      Self.endAs(worker)
    }
  }

  // MARK: Hooks

  /// Runs a hook in the worker.
  ///
  /// - Parameter stage: Where the test host keeps the state of the stage, for first hooks.
  func cross(
    _ hook: Hook, _ kind: StageKind, _ instance: UInt32, _ handle: crb_call,
    _ stage: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _ event: (inout WatchedMessage) -> Void
  ) -> crb_verdict {
    settle(handle)
    guard var message = message(handle, kind) else { return Verdict.fail }
    event(&message)
    let lane = begin(handle, kind, instance)
    guard let post = worker.post(hook, kind, instance, handle, message, lane: lane) else {
      checkEnd()
      return fail("a message of \(hook.name) is larger than half of the arena of the worker")
    }
    while true {
      switch worker.wait(post) {
      case .notYet: continue
      case .ended: Self.endAs(worker)
      case .pending:
        let hasState = calls.state.withLock { state in
          state.visits[handle]?.pending = post
          return state.visits[handle]?.hasState ?? false
        }
        unsafe stage?.pointee = hasState ? unsafe Self.mark(handle) : nil
        return Verdict.pending
      case .answered(let answer):
        let (returned, hasState) = take(answer, handle)
        unsafe stage?.pointee = hasState ? unsafe Self.mark(handle) : nil
        guard let returned else {
          // No hook has run: the slot is NULL, or the instance of the call was not created.
          return answer.failure == nil ? answer.verdict : Verdict.fail
        }
        compare(answer, handle, hook)
        return returned
      }
    }
  }

  /// The handle of a call as the state of its stage.
  private static func mark(_ handle: crb_call) -> UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: UInt(handle))
  }

  /// Chooses the lane of the next hook. The hooks of one call share a lane, as do those of a SERIAL instance.
  private func begin(_ handle: crb_call, _ kind: StageKind, _ instance: UInt32) -> Int {
    let changesThreads = testHost.state.withLock { $0.calls[handle]?.changesThreads ?? false }
    return calls.state.withLock { state in
      let isSerial = interceptors.contains { $0.threadClass == UInt32(CRB_THREADS_SERIAL) }
      var visit =
        state.visits[handle]
        ?? WorkerCalls.Visit(
          instance: instance, kind: kind, lane: isSerial ? Int(instance) : Int(truncatingIfNeeded: handle >> 32))
      if changesThreads, !isSerial { visit.lane += 1 }
      visit.returned = nil
      visit.wasResumed = false
      state.visits[handle] = visit
      return visit.lane
    }
  }

  /// Notes an answer.
  private func take(_ answer: WatchedAnswer, _ handle: crb_call) -> (verdict: crb_verdict?, hasState: Bool) {
    calls.state.withLock { state in
      state.visits[handle]?.isKept = answer.isKept
      return (state.visits[handle]?.returned, state.visits[handle]?.hasState ?? false)
    }
  }

  /// Checks that the elements in an answer are those that the test host has staged.
  private func compare(_ answer: WatchedAnswer, _ handle: crb_call, _ hook: Hook) {
    guard answer.failure == nil else { return }
    let staged = testHost.state.withLock { state -> [Staged.Element]? in
      guard let call = state.calls[handle], call.hook == hook else { return nil }
      if case .revoked = call.token { return nil }
      return call.staged.elements
    }
    guard let staged else { return }
    let sent = answer.elements.map { Staged.Element(kind: $0.kind, bytes: $0.bytes, flags: $0.flags) }
    if sent != staged {
      note(failure: "the answer of \(hook.name) has \(sent.count) elements, but its plugin staged \(staged.count) or other ones")
    }
  }

  private func note(failure: String) { calls.note(failure: failure) }

  private func fail(_ failure: String) -> crb_verdict {
    note(failure: failure)
    return Verdict.fail
  }

  /// Ends the pending hook of a call, before its next hook and its release.
  private func settle(_ handle: crb_call) {
    let pending = calls.state.withLock { state in
      defer { state.visits[handle]?.pending = nil }
      return state.visits[handle].flatMap { visit in visit.pending.map { ($0, visit) } }
    }
    guard let (post, visit) = pending else { return }
    guard visit.wasResumed else {
      worker.revoke(handle, visit.kind, visit.instance)
      return abandon(post, handle)
    }
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      switch worker.wait(post) {
      case .answered(let answer):
        _ = take(answer, handle)
        return
      case .ended: Self.endAs(worker)
      case .pending: usleep(50)
      case .notYet: continue
      }
    }
    note(failure: "the worker did not answer a hook that was resumed")
  }

  private func abandon(_ post: WatchedWorker.Post, _ handle: crb_call) {
    let old = calls.state.withLock { state -> WatchedWorker.Post? in
      state.visits[handle]?.isKept = true
      state.abandoned.append(post)
      return state.abandoned.count > Self.maximumAbandoned ? state.abandoned.removeFirst() : nil
    }
    if let old { worker.forget(old) }
  }

  /// Cancels a call, and waits for its on_cancel().
  func cancel(_ handle: crb_call, _ kind: StageKind, _ instance: UInt32) {
    worker.cancel(handle, kind, instance)
    checkEnd()
  }

  /// Releases the state of a call.
  func release(_ state: UnsafeMutableRawPointer?) { forget(crb_call(UInt(bitPattern: state))) }

  /// Ends a call: the worker forgets it.
  func forget(_ handle: crb_call) {
    settle(handle)
    let visit = calls.state.withLock { state in
      state.suspended[handle] = nil
      return state.visits.removeValue(forKey: handle)
    }
    guard let visit, visit.isKept || visit.hasState else { return }
    worker.release(handle, visit.instance, lane: visit.lane)
    checkEnd()
  }

  // MARK: Messages

  /// The visible parts of a call, for its next hook; nil if the call is over.
  private func message(_ handle: crb_call, _ kind: StageKind) -> WatchedMessage? {
    let keys = calls.state.withLock { $0.keys }
    return testHost.state.withLock { state in
      guard let call = state.calls[handle] else { return nil }
      var message = WatchedMessage()
      message.requestID = call.requestID
      message.deadline = call.deadline
      message.attempt = call.attempt
      message.operationType = call.operation.type
      let headers = call.visibleHeaders
      message.headersStatus = headers == nil ? Status.state : Status.ok
      if call.needs.contains(.headers) { message.fields = (headers ?? []).map(\.watched) }
      var left = call.needs.rawValue & ~Parts.headers.rawValue
      while left != 0 {
        let part = Parts(rawValue: left & ~(left - 1))
        left &= left - 1
        guard call.mayRead(part) else { continue }
        let isUnreadable = part == .body && call.request.isUpload
        let bytes = isUnreadable ? nil : call.part(part)
        let status = isUnreadable ? Status.unsupported : bytes == nil ? Status.notFound : Status.ok
        message.parts.append(.init(part.rawValue, status, bytes))
      }
      message.values = keys.compactMap { number, key in
        call.baggage[key].map { value in
          .init(
            key: number, type: value.type, bits: value.number,
            bytes: value.type >= UInt32(CRB_VALUE_TEXT) ? value.bytes : nil)
        }
      }
      return message
    }
  }

  // MARK: The end

  /// Ends the worker, and reports what its confinement has seen.
  func finish() -> End {
    let refusals = worker.refusals()
    worker.passOutput()
    checkEnd()
    worker.stop()
    WorkerEnding.endLaunchers()
    let findings = refusals.map { Finding(RefusedCalls.check, .warning, Self.text(of: $0)) }
    let text =
      refusals.isEmpty
      ? nil
      : "refused system calls: "
        + refusals.map { $0.count == 1 ? $0.name : "\($0.name) (\($0.count) times)" }.joined(separator: ", ")
    return End(findings: findings, failure: calls.state.withLock { $0.failure }, text: text)
  }

  private static func text(of refusal: WatchedWorker.Refusal) -> String {
    refusal.isNewer
      ? "in a worker it made \(refusal.name) at \(refusal.place), which is newer than this worker and was refused; find out what makes it"
      : "in a worker it made the system call \(refusal.name) at \(refusal.place), which workers may not make and which was refused; "
        + "remove the call, or keep the plugin in-process"
  }

  private func checkEnd() { if worker.end != nil { Self.endAs(worker) } }

  /// Ends this process as the worker has ended, so that the supervisor reports the same as for a plugin in this process.
  private static func endAs(_ worker: WatchedWorker) -> Never {
    worker.passOutput()
    if let rule = worker.brokenRule { Confinement.say("the worker broke the protocol: \(rule)") }
    WorkerEnding.endLaunchers()
    switch worker.end {
    case .exit(let status)?: _exit(status)
    case .signal(let signal)?: WorkerEnding.die(of: signal)
    case .launcher?, nil: WorkerEnding.die(of: SIGKILL)
    }
  }
}

extension HeaderSample {
  fileprivate var watched: WatchedField {
    WatchedField(name: Array(name.utf8), value: Array(value.utf8), flags: isSensitive ? UInt32(CRB_HEADER_SENSITIVE) : 0)
  }
}
