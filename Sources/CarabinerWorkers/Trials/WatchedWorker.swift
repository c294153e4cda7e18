package import CCarabiner
internal import CCrossing
internal import CLinux
package import CarabinerABI
package import CarabinerBridge
package import CarabinerManifest
internal import Glibc
internal import Synchronization

/// A worker with one plugin that a laboratory watches. The laboratory judges each function of the host before the plugin gets its effect.
///
/// It is a worker like that of a host: the same program with the same confinement. It is not started again.
package final class WatchedWorker: Sendable {
  /// A question of the worker to its host.
  package struct Question: Sendable {
    /// The meaning of a question.
    package enum Subject: Sendable, Hashable {
      /// The plugin is about to call a function of the host.
      case use(WatchedFunction)
      /// The worker asks whether bytes may be a part of a message.
      case part(UInt32)
      /// The worker numbers a baggage key.
      case key(UInt32)
      case fetch
      /// An operation of the store: 0 load, 1 publish, 2 remove, 3 remove what matches.
      case store(UInt32)
      case log
    }

    package let subject: Subject
    /// The call, the token, or the number of the operation.
    package let number: UInt64
    /// Whether the thread that asks runs a hook of the call.
    package let isOwn: Bool
    package let records: [WatchedRecord]
    fileprivate let callback: WorkerCallback
  }

  /// The result of a hook, so far.
  package enum Outcome: Sendable {
    case answered(WatchedAnswer)
    case pending
    case notYet
    /// The process has ended.
    case ended
  }

  /// A hook that was posted.
  package struct Post: Sendable {
    fileprivate let lane: WorkerLane
    fileprivate let ticket: WorkerLane.Ticket
  }

  /// A system call that was refused.
  package struct Refusal: Sendable, Hashable {
    package let name: String
    /// Whether the worker does not know the call, because it is newer.
    package let isNewer: Bool
    package let count: UInt64
    /// The first instruction that made it: a file and a number in it.
    package let place: String
  }

  /// Why the plugin, or its worker, refused an operation.
  package struct Failure: Error, Sendable {
    package let status: crb_status
    /// The function or step that failed, such as `validate` or `dlopen`.
    package let step: String
    package let text: String
  }

  /// The longest wait for a load function. The supervisor of a check ends a plugin that takes longer.
  private static let operationLimit = Duration.seconds(600)
  /// How long an operation waits whose answer does not matter.
  private static let noticeLimit = Duration.milliseconds(500)
  private static let readyLimit = Duration.seconds(20)
  /// The output that is passed on in one piece.
  private static let pieceBytes = 64 << 10

  private let process: WorkerProcess
  private let output: Int32
  private let path: String
  private let answer: @Sendable (WatchedWorker, Question) -> Int32
  /// Operations whose answers nothing waited for any more.
  private let late = Mutex<[WorkerLane.Ticket]>([])
  private let crew = WatchCrew()
  private let isRead = Atomic(true)
  private let table = Mutex<WorkerTable?>(nil)
  /// Held while output is passed on.
  private let passing = Mutex(())

  /// Starts a worker, which maps nothing yet.
  ///
  /// - Parameters:
  ///   - path: The plugin.
  ///   - user: The user of the worker if this process is root.
  ///   - answer: The status of a question. It is called on any thread, and several times at once.
  /// - Throws: ``HostError`` if there is no worker, or no confinement.
  package init(
    _ path: String, _ settings: WorkerSettings, user: WorkerOwner?,
    answer: @escaping @Sendable (WatchedWorker, Question) -> Int32
  ) throws(HostError) {
    self.path = path
    self.answer = answer
    let file = try PluginFile(opening: path)
    let plugin = try StagedCopy.sealed(file)
    defer { close(plugin) }
    let count = settings.laneCount(processors: 4)
    var lanes: [WorkerLane] = []
    for _ in 0...count { lanes.append(try WorkerLane(arena: UInt64(settings.arenaBytes), lanes: UInt32(count), plugins: 1)) }
    let bell = CLinux_newWakeUp()
    guard bell >= 0 else { throw HostError(system: errno, "an event counter for a worker cannot be made") }
    let mapped = WorkerGroup.File(path: path, digest: file.digest, descriptor: plugin)
    process = try WorkerProcess.start(
      settings, user: user, generation: 1, lanes: lanes, bell: bell, plugins: [mapped],
      counters: WorkerCounters(holding: settings.memoryBytes), launcher: nil)
    output = process.output.descriptor
    for lane in lanes { lane.setLevels(.max) }
    try HostThread.run("laboratory-asks") { [self] in readQuestions() }
    try HostThread.run("laboratory-says") { [self] in readOutput() }
    try process.awaitReady(within: Self.readyLimit)
  }

  /// How the process ended; nil while it runs.
  package var end: WorkerEnd.Cause? {
    switch process.reason {
    case .ended(let cause)? where process.hasEnded: cause
    case .hung?, .stalled?, .halted?, .brokeProtocol?, .stopped?: process.hasEnded ? .signal(SIGKILL) : nil
    case nil, .ended?: nil
    }
  }

  /// The rule of the protocol that the worker broke; nil if it broke none.
  package var brokenRule: String? {
    if case .brokeProtocol(let rule)? = process.reason { rule } else { nil }
  }

  /// The lanes, by their number.
  package var laneCount: Int { process.lanes.count - 1 }

  // MARK: The plugin

  /// Makes the worker map the plugin.
  ///
  /// - Returns: Its registration table, with functions of this process that have no effect. It lives as long as the worker.
  /// - Throws: ``Failure`` with the step that failed.
  package func load() throws -> (table: UnsafePointer<crb_plugin>, interceptors: [WatchedInterceptor]) {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_ORIGIN.rawValue), text: path)
    message.add(Int(CCROSSING_WATCHED.rawValue))
    message.add(
      Int(CCROSSING_LINE.rawValue), name: Array(HostEnvironment.name.utf8), value: Array(HostEnvironment.version.utf8))
    let answer = try ask(CCROSSING_LOAD, message)
    do throws(WorkerRefusal) {
      let description = try WorkerDescription(answer.message)
      let made = WorkerTable(description)
      table.withLock { $0 = made }
      return unsafe (UnsafePointer(made.plugin), description.interceptors.map(WatchedInterceptor.init))
    } catch {
      throw Failure(status: error.status, step: error.step, text: error.text)
    }
  }

  /// Calls validate(); nil if it accepts.
  package func validate(_ interceptor: Int, _ configuration: String) throws -> Failure? {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_CONFIG.rawValue), text: configuration)
    return Self.failure(in: try ask(CCROSSING_VALIDATE, argument: UInt64(interceptor), message))
  }

  /// Calls validate() and create(); nil if both succeed.
  package func create(_ instance: UInt32, _ interceptor: Int, _ configuration: String, name: String) throws -> Failure? {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_ENTRY.rawValue), text: name, number: 1)
    message.add(Int(CCROSSING_CONFIG.rawValue), text: configuration)
    message.add(Int(CCROSSING_ORIGIN.rawValue), text: path)
    for grant in ["fetch", "store"] { message.add(Int(CCROSSING_GRANT.rawValue), text: grant) }
    return Self.failure(in: try ask(CCROSSING_CREATE, argument: UInt64(interceptor), instance: instance, message))
  }

  /// Calls drain().
  package func drain(_ instance: UInt32) { _ = try? ask(CCROSSING_DRAIN, instance: instance, WorkerMessage()) }

  /// Calls destroy(), after all that was posted before.
  package func destroy(_ instance: UInt32) { _ = try? ask(CCROSSING_DESTROY, instance: instance, WorkerMessage()) }

  /// The state of an instance.
  ///
  /// - Throws: ``Failure`` if the plugin refuses.
  package func save(_ instance: UInt32) throws -> PluginState? {
    let answer = try ask(CCROSSING_SAVE, instance: instance, WorkerMessage())
    if let failure = Self.failure(in: answer) { throw failure }
    return WatchedRecord.all(in: answer.message).first { $0.kind == CCROSSING_STATE.rawValue }.map {
      PluginState(version: UInt32(truncatingIfNeeded: $0.number), bytes: $0.value ?? [])
    }
  }

  /// Offers a state to an instance; nil if it takes it.
  package func adopt(_ state: PluginState, _ instance: UInt32) throws -> Failure? {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_STATE.rawValue), number: UInt64(state.version), value: state.bytes)
    return Self.failure(in: try ask(CCROSSING_ADOPT, instance: instance, message))
  }

  /// The system calls that were refused so far. It waits until the worker has done all operations before.
  package func refusals() -> [Refusal] {
    guard let answer = try? ask(CCROSSING_REFUSALS, WorkerMessage()) else { return [] }
    return WatchedRecord.all(in: answer.message).filter { $0.kind == CCROSSING_REFUSAL.rawValue }.map {
      Refusal(name: $0.nameText, isNewer: $0.b != 0, count: $0.number, place: $0.valueText)
    }
  }

  /// Ends the process, and waits for its end.
  package func stop() {
    process.stop(.stopped)
    _ = process.process.waitForEnd(within: .seconds(10))
    isRead.store(false, ordering: .releasing)
  }

  /// Waits until all output of the plugin was passed on.
  package func passOutput() {
    for _ in 0..<1000 {
      let isEmpty = passing.withLock { _ in !Self.isReadable(output, within: 0) }
      if isEmpty { return }
      usleep(1000)
    }
  }

  private static func isReadable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waited, 1, milliseconds) > 0
  }

  // MARK: Hooks

  /// Posts a hook.
  ///
  /// - Returns: Nil if the message is too large, or the worker has ended.
  package func post(
    _ hook: Hook, _ kind: StageKind, _ instance: UInt32, _ call: crb_call, _ message: WatchedMessage, lane number: Int
  ) -> Post? {
    let lane = process.lanes[1 + number % laneCount]
    let bytes = message.bytes()
    while end == nil {
      guard let ticket = lane.open(holding: bytes) else {
        guard bytes.count <= process.settings.arenaBytes / 2 else { return nil }
        usleep(200)
        continue
      }
      if lane.post(ticket, UInt16(hook.rawValue), kind: kind.crossing, instance: instance, call: call) {
        return Post(lane: lane, ticket: ticket)
      }
      lane.close(ticket)
      usleep(200)
    }
    return nil
  }

  /// Waits for the result of a hook, for at most 20 ms. A hook that is answered may not be asked about again.
  package func wait(_ post: Post) -> Outcome {
    switch post.lane.wait(post.ticket, until: MonotonicClock.nanoseconds + 20_000_000) {
    case .answered(let answer):
      post.lane.close(post.ticket)
      return .answered(WatchedAnswer(answer))
    case .pending: return end == nil ? .pending : .ended
    case .notYet: return end == nil ? .notYet : .ended
    case .invalid(let problem):
      process.stop(.brokeProtocol(problem))
      return .ended
    }
  }

  /// Gives up a hook whose token was revoked. The plugin may still read its message.
  package func forget(_ post: Post) { post.lane.close(post.ticket) }

  /// Forgets a call: its state is released.
  package func release(_ call: crb_call, _ instance: UInt32, lane number: Int) {
    process.lanes[1 + number % laneCount].post(CCROSSING_RELEASE, instance: instance, call: call)
  }

  /// Cancels a call, and waits for its on_cancel().
  package func cancel(_ call: crb_call, _ kind: StageKind, _ instance: UInt32) {
    process.control.post(CCROSSING_CANCEL, kind: kind.crossing, instance: instance, call: call)
    notify(CCROSSING_REFUSALS, 0, 0, WorkerMessage())
  }

  /// Makes the token of a pending hook stale.
  package func revoke(_ call: crb_call, _ kind: StageKind, _ instance: UInt32) {
    process.control.post(CCROSSING_REVOKE, kind: kind.crossing, instance: instance, call: call)
  }

  // MARK: Services

  /// Ends a fetch, and waits for done().
  package func finishFetch(
    _ number: UInt64, status: UInt32, version: UInt32, url: [UInt8], fields: [WatchedField], body: [UInt8]
  ) {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_RESPONSE.rawValue), a: status, b: version, value: url)
    for field in fields {
      message.add(Int(CCROSSING_FIELD.rawValue), a: field.flags, name: field.name, value: field.value)
    }
    message.add(Int(CCROSSING_BODY.rawValue), value: body)
    notify(CCROSSING_FETCHED, number, 0, message)
  }

  /// Ends an operation with an error, and waits for done().
  package func fail(_ number: UInt64, isFetch: Bool, _ error: UnsafePointer<crb_error>) {
    var message = WorkerMessage()
    let error = unsafe error.pointee
    message.add(
      Int(CCROSSING_ERROR_SET.rawValue), a: unsafe UInt32(bitPattern: error.code), b: unsafe error.flags,
      number: unsafe error.retry_after_ns, name: unsafe Array(error.domain.bytes), value: unsafe Array(error.message.bytes))
    message.add(
      Int(CCROSSING_ERROR_MORE.rawValue), a: unsafe UInt32(bitPattern: error.http_status),
      value: unsafe error.detail_json.isAbsent ? nil : Array(error.detail_json.bytes))
    notify(isFetch ? CCROSSING_FETCHED : CCROSSING_STORED, number, 0, message)
  }

  /// Ends an operation of the store, and waits for done().
  package func finishStore(_ number: UInt64, count: UInt64, records: [UInt8]?) {
    var message = WorkerMessage()
    message.add(Int(CCROSSING_STORE_ANSWER.rawValue), number: count, value: records)
    notify(CCROSSING_STORED, number, 0, message)
  }

  // MARK: Operations

  private static func failure(in answer: WorkerLane.Answer) -> Failure? {
    WorkerRefusal.found(in: answer).map {
      Failure(status: $0.status, step: $0.step, text: WatchedRecord.reason(in: answer.message))
    }
  }

  private func begin(
    _ operation: CCrossing_operation, _ argument: UInt64, _ instance: UInt32, _ message: WorkerMessage
  ) -> WorkerLane.Ticket? {
    sweep()
    while end == nil {
      if let ticket = process.control.open(holding: message.bytes) {
        if process.control.post(ticket, UInt16(operation.rawValue), instance: instance, call: argument) { return ticket }
        process.control.close(ticket)
      }
      guard message.bytes.count <= process.settings.arenaBytes / 2 else { return nil }
      usleep(200)
    }
    return nil
  }

  private func ask(
    _ operation: CCrossing_operation, argument: UInt64 = 0, instance: UInt32 = 0, _ message: WorkerMessage
  ) throws -> WorkerLane.Answer {
    guard let ticket = begin(operation, argument, instance, message), let answer = result(of: ticket, within: Self.operationLimit)
    else {
      throw Failure(
        status: crb_status(CRB_E_INTERNAL), step: "worker", text: "the worker has ended, or takes no operations of this size")
    }
    process.control.close(ticket)
    return answer
  }

  /// Runs an operation, and waits a while for its end.
  private func notify(_ operation: CCrossing_operation, _ argument: UInt64, _ instance: UInt32, _ message: WorkerMessage) {
    guard let ticket = begin(operation, argument, instance, message) else { return }
    if result(of: ticket, within: Self.noticeLimit) != nil {
      process.control.close(ticket)
    } else {
      // The control thread may itself wait for what the caller does next.
      late.withLock { $0.append(ticket) }
    }
  }

  private func result(of ticket: WorkerLane.Ticket, within limit: Duration) -> WorkerLane.Answer? {
    let until = MonotonicClock.nanoseconds + limit.inNanoseconds
    while true {
      let now = MonotonicClock.nanoseconds
      switch process.control.wait(ticket, until: min(until, now + 20_000_000)) {
      case .answered(let answer): return answer
      case .invalid(let problem):
        process.stop(.brokeProtocol(problem))
        return nil
      case .pending, .notYet: if end != nil || now >= until { return nil }
      }
    }
  }

  private func sweep() {
    let tickets = late.withLock { late in
      defer { late = [] }
      return late
    }
    for ticket in tickets {
      if case .answered = process.control.wait(ticket, until: 0) {
        process.control.close(ticket)
      } else {
        late.withLock { $0.append(ticket) }
      }
    }
  }

  // MARK: Threads

  private func readQuestions() {
    var (seen, next) = (Array(repeating: UInt32(0), count: Int(CCROSSING_CALLBACKS)), 0)
    while isRead.load(ordering: .acquiring) {
      guard Self.isReadable(process.bell, within: 100) else { continue }
      var count: UInt64 = 0
      _ = unsafe read(process.bell, &count, MemoryLayout<UInt64>.size)
      let problem = process.control.takeCallbacks(&seen, &next) { callback in
        guard let question = Question(callback) else {
          process.stop(.brokeProtocol("there is no callback \(callback.request) with \(callback.argument)"))
          return false
        }
        crew.run { [self] in process.control.reply(to: question.callback, answer(self, question)) }
        return true
      }
      if let problem { process.stop(.brokeProtocol(problem)) }
    }
  }

  /// Passes on what the plugin prints.
  private func readOutput() {
    var isOpen = true
    while isOpen {
      guard Self.isReadable(output, within: 1000) else { continue }
      passing.withLock { _ in isOpen = passPiece() }
    }
  }

  /// - Returns: False at the end.
  private func passPiece() -> Bool {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    let count = unsafe read(output, &piece, piece.count)
    guard count > 0 else { return count < 0 && (errno == EINTR || errno == EAGAIN) }
    _ = unsafe write(STDOUT_FILENO, piece, count)
    return true
  }
}

extension WatchedWorker.Question {
  fileprivate init?(_ callback: WorkerCallback) {
    self.callback = callback
    number = callback.number
    isOwn = callback.instance != 0
    records = WatchedRecord.all(in: callback.message)
    switch Int(callback.request) {
    case Int(CCROSSING_USE.rawValue):
      guard let function = WatchedFunction(rawValue: callback.argument) else { return nil }
      subject = .use(function)
    case Int(CCROSSING_CHECK.rawValue): subject = .part(callback.argument)
    case Int(CCROSSING_KEY.rawValue): subject = .key(callback.argument)
    case Int(CCROSSING_FETCH.rawValue): subject = .fetch
    case Int(CCROSSING_STORE.rawValue): subject = .store(callback.argument)
    case Int(CCROSSING_LOG.rawValue): subject = .log
    default: return nil
    }
  }
}

/// Threads that answer questions. One question may wait for another one, so there are as many threads as questions.
private final class WatchCrew: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var idle = 0
  }

  private let state = Mutex(State())
  private let signal = CLinux_newWakeUp()

  func run(_ body: @escaping @Sendable () -> Void) {
    let isNeeded = state.withLock { state in
      state.work.append(body)
      guard state.idle < state.work.count else { return false }
      state.idle += 1
      return true
    }
    guard isNeeded else { return wake() }
    do throws(HostError) {
      try HostThread.run("laboratory") { [self] in serve() }
    } catch {
      state.withLock { $0.idle -= 1 }
      // Another one may be free soon.
      wake()
    }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe write(signal, &one, MemoryLayout<UInt64>.size)
  }

  private func serve() {
    while true {
      let (work, hasMore) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
        guard !state.work.isEmpty else { return (nil, false) }
        state.idle -= 1
        return (state.work.removeFirst(), !state.work.isEmpty)
      }
      if let work {
        // Each wake-up may stand for several.
        if hasMore { wake() }
        work()
        state.withLock { $0.idle += 1 }
        continue
      }
      var waited = pollfd(fd: signal, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waited, 1, 1000) > 0 else { continue }
      var count: UInt64 = 0
      _ = unsafe read(signal, &count, MemoryLayout<UInt64>.size)
    }
  }
}
