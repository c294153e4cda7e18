internal import Dispatch
internal import Synchronization

/// Runs the callbacks of one call one at a time, in the order in which they were added.
///
/// The order is the same on serial and concurrent queues. Callbacks run on the queue of the caller, never on the thread that adds
/// them. A task runs them, so they see the task-locals that were bound where this object was created.
final class CallbackQueue: Sendable {
  /// A callback, and the result of the server that it belongs to.
  struct Callback: Sendable {
    let body: Transferred<() -> Void>
    let turn: ResultTurn?

    init(turn: ResultTurn? = nil, _ body: @escaping () -> Void) {
      self.body = Transferred(body)
      self.turn = turn
    }
  }

  /// How deep callbacks of one stack may be nested when they pass results to one another. Deeper ones run after the stack is
  /// unwound.
  static let maximumNesting = 64

  /// Shared with the task, which must not keep this object.
  private let callbacks = PendingCallbacks()

  init(on queue: DispatchQueue) {
    Task(executorPreference: QueueExecutor(queue)) { [callbacks] in
      while await callbacks.wait() { callbacks.runNext() }
    }
  }

  deinit { callbacks.finish() }

  /// Adds a callback at the end.
  func add(_ callback: Callback) { callbacks.add(callback) }

  /// Drops the callbacks that have not begun, and accepts no more.
  ///
  /// - Parameter last: A callback to run nevertheless; nil for none.
  func close(after last: Callback? = nil) { callbacks.close(after: last) }

  /// Whether this thread runs a callback of this queue.
  var isCurrent: Bool { callbacks.isCurrent }

  /// Runs `body` as a part of the callback that this thread runs, unless this queue was closed meanwhile.
  func nest(_ body: @escaping () -> Void) { callbacks.nest(body) }
}

/// The callbacks that have not run.
private final class PendingCallbacks: Sendable {
  private struct State {
    var waiting: [CallbackQueue.Callback] = []
    /// How many of `waiting` have run.
    var done = 0
    var worker: CheckedContinuation<Bool, Never>?
    var isFinished = false
    var isClosed = false
    /// The thread that runs a callback; 0 for none.
    var thread: UInt = 0
    var nesting = 0
    /// Parts of the current callback that run when its stack is unwound.
    var deferred: [Transferred<() -> Void>] = []

    var isEmpty: Bool { done == waiting.count }

    mutating func next() -> CallbackQueue.Callback? {
      guard !isEmpty else { return nil }
      let callback = waiting[done]
      done += 1
      if isEmpty || done >= 64 {
        waiting.removeFirst(done)
        done = 0
      }
      return callback
    }

    mutating func takeWorker() -> CheckedContinuation<Bool, Never>? {
      defer { worker = nil }
      return worker
    }
  }

  private let state = Mutex(State())

  func add(_ callback: CallbackQueue.Callback) {
    let worker = state.withLock { state in
      guard !state.isClosed else { return nil as CheckedContinuation<Bool, Never>? }
      state.waiting.append(callback)
      return state.takeWorker()
    }
    worker?.resume(returning: true)
  }

  func close(after last: CallbackQueue.Callback?) {
    let (worker, dropped) = state.withLock { state in
      let dropped = (state.waiting, state.deferred)
      guard !state.isClosed else { return (nil as CheckedContinuation<Bool, Never>?, dropped) }
      (state.isClosed, state.done, state.deferred) = (true, 0, [])
      state.waiting = last.map { [$0] } ?? []
      return (state.takeWorker(), dropped)
    }
    worker?.resume(returning: last != nil)
    // Released here, outside the lock, because releasing runs code of the user.
    withExtendedLifetime(dropped) {}
  }

  func finish() {
    let worker = state.withLock { state in
      state.isFinished = true
      return state.takeWorker()
    }
    worker?.resume(returning: true)
  }

  /// Waits for a callback; false when there will be none.
  func wait() async -> Bool {
    await withCheckedContinuation { worker in
      let answer: Bool? = state.withLock { state in
        if !state.isEmpty { return true }
        if state.isFinished || state.isClosed { return false }
        state.worker = worker
        return nil
      }
      if let answer { worker.resume(returning: answer) }
    }
  }

  func runNext() {
    let thread = ThreadNumber.current
    let callback = state.withLock { state in
      let callback = state.next()
      if callback != nil { (state.thread, state.nesting) = (thread, 0) }
      return callback
    }
    guard let callback else { return }
    callback.body.value()
    while let part = state.withLock({ $0.deferred.popLast() }) { part.value() }
    state.withLock { $0.thread = 0 }
    callback.turn?.delivered()
  }

  var isCurrent: Bool { state.withLock { $0.thread == ThreadNumber.current } }

  func nest(_ body: @escaping () -> Void) {
    let part = Transferred(body)
    let runsNow = state.withLock { state in
      guard !state.isClosed else { return false }
      guard state.nesting < CallbackQueue.maximumNesting else {
        state.deferred.append(part)
        return false
      }
      state.nesting += 1
      return true
    }
    guard runsNow else { return }
    body()
    state.withLock { $0.nesting -= 1 }
  }
}
