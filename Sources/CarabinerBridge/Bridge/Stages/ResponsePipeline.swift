internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import Synchronization

/// The event of an element, and the first hook with an outcome.
private struct ElementLook {
  let event: ElementEvent
  let made: HookInvocation?
}

/// The results of the synchronous calls, for the `async` functions that continue after them.
private struct PlainCalls: ~Copyable {
  /// The look at the last element, if ``ResponsePipeline/passes(_:)`` has shown it to the stages and one of them did not let it pass.
  var look: Result<ElementLook, PluginError>?
  /// Whether the way in is not over after ``ResponsePipeline/descendPlainly()``.
  var isUnfinished = false
  /// The first hook with another outcome than that the request goes on.
  var unfinished: HookInvocation?

  /// Returns the look and removes it.
  mutating func takeLook() throws(PluginError) -> ElementLook? {
    defer { look = nil }
    return try look?.get()
  }

  /// Returns the hook that ended the way in, and removes it.
  mutating func takeUnfinished() -> HookInvocation? {
    defer { unfinished = nil }
    isUnfinished = false
    return unfinished
  }
}

/// A pass with a way back: elements go through the stages in reverse order, and then errors or the end.
final class ResponsePipeline<Message: ResponseMessage>: PluginPass<Message>, StreamPass, @unchecked Sendable {
  typealias Element = Message.Element
  typealias Step = PullStream<Element>.Step

  // One consumer at a time, so the runtime need not check each access.

  /// The elements from the stages further in; nil after the end.
  @safe @exclusivity(unchecked) var inner: PullStream<Element>?
  /// How many stages, from the outermost, are between the inner stream and the caller.
  var depth: Int
  /// Elements that are ready to go outward. It is mostly empty, and no metadata is needed to destroy an empty array.
  @safe @exclusivity(unchecked) private var ready: ArraySlice<Element> = []
  private var sequence: UInt64 = 0
  @safe @exclusivity(unchecked) private var plain = PlainCalls()
  /// The pass of the next outer stage, while the request is still on its way inward.
  @safe @exclusivity(unchecked) var outer: (any StreamPass<Element>)?

  override init(_ message: Message, through group: PluginStageGroup, _ shared: PluginCall, timeout: Double?) throws {
    depth = group.count
    try super.init(message, through: group, shared, timeout: timeout)
  }

  // MARK: The way in

  /// Runs `on_request` of the stages for as long as they let the request pass, or do nothing but change its headers.
  ///
  /// - Returns: The first hook with another outcome, for ``descend(after:)``; nil if the request goes on.
  func descend() -> HookInvocation? {
    call.beginStep(self)
    if let made = call.descend(from: 0), let left = descendEditing(after: made) { return left }
    call.endStep()
    return nil
  }

  /// Goes inward as far as synchronous calls can.
  func descendPlainly() {
    plain.unfinished = descend()
    // Stages further in see baggage in a scope, which needs an `async` function.
    plain.isUnfinished = plain.unfinished != nil || !call.pass.innerBaggage.isEmpty
  }

  /// Whether the way in is not over after ``descendPlainly()``.
  var isUnfinished: Bool { plain.isUnfinished }

  /// Returns the hook that ended ``descendPlainly()``, and removes it.
  func takeUnfinished() -> HookInvocation? { plain.takeUnfinished() }

  /// Goes inward for as long as stages with an outcome do nothing but change headers.
  ///
  /// Most stages with an outcome do. This is outside of the `async` function, whose variables are in memory.
  private func descendEditing(after first: HookInvocation) -> HookInvocation? {
    // Read once: each access to a property counts a reference.
    let call = call
    var made = first
    while true {
      // A stage does not see its own error and its own response.
      depth = made.index
      guard call.passedWithHeaderEdits(made) else { return made }
      message.takeHeaderEdits(of: call)
      call.stages.open(made.index)
      guard let next = call.descend(from: made.index + 1) else { break }
      made = next
    }
    depth = call.stages.group.count
    return nil
  }

  /// Continues at a stage with another outcome, with the effects it staged.
  ///
  /// - Returns: The effects of a stage that responded itself. The stages further out see its response. Nil if the request goes on.
  func descend(after first: HookInvocation) async throws -> StagedEffects? {
    defer { call.endStep() }
    var next: HookInvocation? = first
    while let made = next {
      let index = made.index
      depth = index
      let (verdict, effects) = try await call.outcome(of: made, .down)
      switch verdict {
      case Verdict.respond: return effects
      case Verdict.retry:
        message.apply(effects)
        try await waitForRetry(effects, at: index, .onRequest)
        throw message.retry
      case Verdict.fail: throw call.failure(effects, .onRequest, at: index)
      default:
        message.apply(effects)
        call.stages.open(index)
      }
      next = call.descend(from: index + 1).flatMap(descendEditing(after:))
    }
    depth = call.stages.group.count
    return nil
  }

  // MARK: The way back

  func take(_ inner: PullStream<Element>) { self.inner = inner }

  /// Shows the only element of the inner stream. Most elements are not changed by any stage.
  @_specialize(where Message == GraphQLRequestMessage<JSONRequest<DynamicOperation>>)
  func passes(_ element: Element) -> Bool {
    do throws(PluginError) {
      let look = try look(at: element, from: depth - 1)
      guard look.made == nil, call.stages.closeSilently(from: depth - 1) == nil else {
        plain.look = .success(look)
        return false
      }
    } catch {
      plain.look = .failure(error)
      return false
    }
    inner = nil
    notePassed()
    return true
  }

  func next() async throws -> Step {
    while ready.isEmpty, inner != nil {
      do {
        let step = try await inner?.pull() ?? .end
        switch step {
        case .element(let element):
          let look = try look(at: element, from: depth - 1)
          // Most elements are not changed by any stage. They are passed on as they came.
          if look.made == nil { return pass(step) }
          guard try await ascend(element, look) else { continue }
        case .last(let element):
          let look = try plain.takeLook() ?? look(at: element, from: depth - 1)
          if look.made == nil, call.stages.closeSilently(from: depth - 1) == nil {
            inner = nil
            return pass(step)
          }
          _ = try await ascend(element, look)
        case .end: break
        }
        inner = nil
        if let stage = call.stages.closeSilently(from: depth - 1) { try await finish(from: stage) }
      } catch {
        try await handle(error)
      }
    }
    guard let element = ready.popFirst() else { return .end }
    noteDelivery()
    return inner == nil && ready.isEmpty ? .last(element) : .element(element)
  }

  private func pass(_ step: Step) -> Step {
    notePassed()
    return step
  }

  private func notePassed() {
    call.endStep()
    sequence += 1
    noteDelivery()
  }

  private func noteDelivery() {
    if Message.reachesCaller { shared.noteDelivery() }
  }

  // MARK: Elements

  private func look(at element: Element, from outermost: Int) throws(PluginError) -> ElementLook {
    call.beginStep(self)
    let event = try message.event(for: element, sequence, in: call)
    return ElementLook(event: event, made: try message.ascend(event, in: call, from: outermost))
  }

  /// Takes an element through the stages from number `outermost` outward.
  ///
  /// - Returns: Whether a stage ended the stream with it.
  private func ascend(_ element: Element, from outermost: Int) async throws -> Bool {
    try await ascend(element, look(at: element, from: outermost))
  }

  /// Continues at the stage with an outcome.
  private func ascend(_ element: Element, _ look: ElementLook) async throws -> Bool {
    defer { call.endStep() }
    var next = look.made
    while let made = next {
      let index = made.index
      let (verdict, effects) = try await atStage(index) { try await call.outcome(of: made, .up) }
      switch verdict {
      case Verdict.drop: return false
      case Verdict.fail: throw StageFailure(error: call.failure(effects, made.hook, at: index), depth: index)
      case Verdict.retry: try await retryIfPossible(effects, at: index, made.hook)
      default: break
      }
      let isFinished = verdict == Verdict.finish
      if effects.hasElements {
        let wasEnded = try await ascend(effects.elements, replacing: element, from: index)
        return isFinished || wasEnded
      }
      if isFinished {
        _ = try await ascend(element, from: index - 1)
        return true
      }
      next = try message.ascend(look.event, in: call, from: index - 1)
    }
    sequence += 1
    ready.append(element)
    return false
  }

  /// Takes the elements that stage number `index` staged to the stages further out, until one of them ends the stream.
  ///
  /// - Returns: Whether a stage ended the stream.
  @discardableResult
  private func ascend(
    _ staged: [StagedEffects.Element], replacing original: Element? = nil, from index: Int
  ) async throws -> Bool {
    for staged in staged {
      let element: Element
      do {
        element = try message.element(of: staged, replacing: original)
      } catch {
        throw StageFailure(error: error, depth: index)
      }
      if try await ascend(element, from: index - 1) { return true }
    }
    return false
  }

  /// Informs every stage that is still open, from number `outermost` outward, that there are no more elements.
  private func finish(from outermost: Int) async throws {
    inner = nil
    defer { call.endStep() }
    var last = outermost
    while let stage = call.stages.closeSilently(from: last) {
      last = stage - 1
      call.beginStep(self)
      let effects = try await atStage(stage) { try await call.end(stage) }
      try await ascend(effects.elements, from: stage)
    }
  }

  // MARK: Errors

  /// Takes an error outward. A stage may pass it on, replace it, or put elements in its place.
  ///
  /// - Throws: The error for the caller, unless a stage put elements in its place.
  func handle(_ thrown: any Error) async throws {
    inner = nil
    var (error, depth) = (thrown, self.depth)
    while true {
      if let failure = error as? StageFailure {
        (error, depth) = (failure.error, failure.depth)
        // The stages further in are done, for their stream will not be pulled again.
        for stage in stride(from: depth, to: call.stages.group.count, by: 1) { call.stages.close(stage) }
      }
      do {
        return try await takeOutward(error, from: depth - 1)
      } catch let failure as StageFailure {
        error = failure
      } catch let cancelled as CancellationError {
        call.cancelOpenStages()
        throw cancelled
      }
    }
  }

  /// Takes an error to the open stages from number `outermost` outward.
  ///
  /// - Throws: `StageFailure` if a stage has an error of its own, else the error for the caller.
  private func takeOutward(_ thrown: any Error, from outermost: Int) async throws {
    // Stages keep their state over a retry, so it leaves them open.
    guard !thrown.isChainControl else { throw thrown }
    var error = thrown
    for stage in stride(from: outermost, through: 0, by: -1) where call.stages.isOpen(stage) {
      call.beginStep(self)
      guard let (verdict, effects) = try await atStage(stage, { try await call.inform(stage, of: error) }) else { continue }
      switch verdict {
      case Verdict.recover:
        try await ascend(effects.elements, from: stage)
        return try await finish(from: stage - 1)
      case Verdict.drop: return try await finish(from: stage - 1)
      case Verdict.retry: try await atStage(stage) { try await retryIfPossible(effects, at: stage, .onError) }
      case Verdict.fail: if let staged = effects.error { error = staged }
      default: break
      }
    }
    throw error
  }

  /// Adds the stage to an error, so that only stages further out see it.
  func atStage<Value>(_ index: Int, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error where !(error is StageFailure) && !error.isChainControl {
      throw StageFailure(error: error, depth: index)
    }
  }

  // MARK: Retries

  /// Starts the request again, unless the caller has received a result: that cannot be taken back.
  func retryIfPossible(_ effects: StagedEffects, at index: Int, _ hook: Hook) async throws {
    guard !shared.wasDelivered else { return }
    try await waitForRetry(effects, at: index, hook)
    throw message.retry
  }

  /// Counts a retry and waits as long as the plugin asked for, at most to the deadline.
  private func waitForRetry(_ effects: StagedEffects, at index: Int, _ hook: Hook) async throws {
    guard shared.mayRetry() else {
      throw PluginError(
        code: .retryLimit, entry: call.stages.name(index), hook: hook.name,
        message:
          "plugins asked for more than \(shared.limits.maximumRetries) retries of one request; find out why the retries do "
          + "not help, or raise plugin-retries")
    }
    call.stages.plugin(index).counters.retries.wrappingAdd(1, ordering: .relaxed)
    guard effects.retryDelay > 0 else { return }
    let deadline = call.deadline.load(ordering: .relaxed)
    let left = deadline == .max ? UInt64.max : deadline - min(deadline, MonotonicClock.nanoseconds)
    try await Task.sleep(for: .nanoseconds(Int64(clamping: min(effects.retryDelay, left))))
  }
}
