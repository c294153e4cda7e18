internal import Carabiner
internal import CarabinerBridge
internal import CarabinerCurl
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerUpstreams
internal import CarabinerWire
internal import Dispatch
internal import Logging
internal import Synchronization

/// The generations of a manifest: the current one runs new operations, earlier ones finish theirs, and one may be on trial.
///
/// An operation runs in one generation from start to end. A generation that is no longer used ends on a separate queue, because
/// draining its plugins may block.
final class GenerationManager: OperationRunner {
  private struct State {
    var current: Generation
    var trial: GenerationTrial?
    var retired: [Generation] = []
    var lastReload: ReloadReport?
    var reloads = 0
    var refusedReloads = 0
  }

  let output: HostOutput
  /// Records operations; nil if they are not recorded.
  private let recorder: Recorder?
  /// The durations of stages.
  let timings: StageTimings
  /// The events of the generations.
  let events = GenerationEvents()
  /// The client policy of the current generation.
  let policies = CurrentPolicy()
  private let state: Mutex<State>
  private let retirement = DispatchQueue(label: "carabiner.retirement")

  init(_ first: Generation, recorder: Recorder?, timings: StageTimings, output: HostOutput) {
    state = Mutex(State(current: first))
    self.recorder = recorder
    self.timings = timings
    self.output = output
    policies.set(first.clientPolicy)
  }

  /// The generation that runs new operations.
  var current: Generation { state.withLock { $0.current } }
  /// The trial; nil if there is none.
  var trial: GenerationTrial? { state.withLock { $0.trial } }
  /// The generations that run new operations: the current one, and the one on trial if there is one.
  var serving: [Generation] { state.withLock { [$0.current] + ($0.trial.map { [$0.generation] } ?? []) } }
  /// Earlier generations that have not ended yet.
  var retired: [Generation] { state.withLock { $0.retired } }
  var lastReload: ReloadReport? { state.withLock { $0.lastReload } }
  /// The number of reloads, and of those that were refused.
  var reloadCounts: (all: Int, refused: Int) { state.withLock { ($0.reloads, $0.refusedReloads) } }

  var executor: any TaskExecutor { current.host.transport.loop }

  var connectionInitHeaders: HeaderSelection { current.connectionInitHeaders }

  var hasAvailableUpstream: Bool {
    // A single endpoint is neither checked nor ejected.
    guard let main = current.host.upstreams[Manifest.mainUpstream] else { return true }
    return main.snapshot.endpoints.contains(where: \.isAvailable)
  }

  // MARK: Operations

  func begin(
    _ operation: DynamicOperation, headers: HTTPHeaders, requestID: String, client: String, path: String,
    forwarded fields: ForwardedFields?, trace: RequestTrace?, sending: SendingWatch?, takesPassedBody: Bool
  ) throws -> RunningOperation {
    let (generation, trial) = enter { field in field.flatMap { headers[$0] } ?? client }
    do {
      var forwarded = Self.forwarded(headers, generation.forwardedHeaders, requestID)
      fields?.set(in: &forwarded)
      trace?.passOn(in: &forwarded)
      let tracer = timings.nextTracer(beside: trace?.chain(of: operation, generation: generation.number))
      let results = try generation.host.results(
        of: operation, headers: forwarded, cachePolicy: generation.cachePolicy, path: path,
        takesPassedBody: takesPassedBody && trial == nil && recorder == nil,
        tracer: sending.map { $0.tracer(beside: tracer) } ?? tracer)
      guard trial != nil || recorder != nil else {
        return RunningOperation(
          results: results, generation: generation.number, returnedHeaders: generation.returnedHeaders,
          ended: { [self] _ in leave(generation) })
      }
      let watch = OperationWatch(operation, headers: forwarded)
      return RunningOperation(
        results: watch.following(results), generation: generation.number, returnedHeaders: generation.returnedHeaders,
        ended: { [self] outcome in
          note(watch, outcome, generation, trial)
          leave(generation)
        })
    } catch {
      leave(generation)
      throw error
    }
  }

  /// Selects the generation of an operation and counts the operation in it.
  ///
  /// - Parameter key: Returns the key that decides whether a canary runs the operation. It gets the name of the header that the
  ///   manifest uses as key, or nil.
  func enter(_ key: (_ field: String?) -> String) -> (Generation, GenerationTrial?) {
    // Counted under the lock, so that a generation that is retired at the same time sees the operation.
    let found: Generation? = state.withLock { state in
      guard state.trial == nil else { return nil }
      state.current.enter()
      return state.current
    }
    if let found { return (found, nil) }
    let trial = trial
    var isTaken = false
    if let trial, case .canary(let canary) = trial.kind {
      let hash = GenerationTrial.hash(of: key(canary.key))
      isTaken = GenerationTrial.takes(hash, share: canary.share)
      (isTaken ? trial.own : trial.baseline).saw(hash)
    }
    return state.withLock { state in
      let chosen = isTaken && state.trial === trial ? trial?.generation ?? state.current : state.current
      chosen.enter()
      return (chosen, state.trial === trial ? trial : nil)
    }
  }

  func culprit(of error: any Error) -> String? {
    switch error {
    case let error as PluginError: error.entry
    case let error as ResponseParsingError: error.cause.flatMap { culprit(of: $0) }
    default: nil
    }
  }

  private static func forwarded(
    _ headers: HTTPHeaders, _ selection: HeaderSelection, _ requestID: String
  ) -> HTTPHeaders {
    var forwarded = HTTPHeaders()
    if selection.isEmpty { return forwarded }
    headers.forEach(passedBy: selection) { forwarded.append(fieldOf: headers, at: $0) }
    // Clients of HTTP/2 split their cookies into several fields (RFC 9113, 8.2.3).
    if selection.passesCookies { forwarded.joinFields(of: "Cookie", by: "; ") }
    // This also applies if the client sent no ID, or a malformed one.
    if selection.passes(RequestID.field) { forwarded[RequestID.field] = requestID }
    return forwarded
  }

  func leave(_ generation: Generation) {
    if generation.leave() { end(generation) }
  }

  private func note(
    _ watch: OperationWatch, _ outcome: OperationOutcome, _ generation: Generation, _ trial: GenerationTrial?
  ) {
    let recorded = watch.recorded(outcome)
    if let recorder, let recorded { recorder.record(recorded) }
    guard let trial, outcome != .cancelled else { return }
    switch trial.kind {
    case .canary:
      let statistics = generation === trial.generation ? trial.own : trial.baseline
      statistics.record(watch.time, isError: outcome.isError)
    case .shadow(let shadow):
      guard let recorded, recorded.operation.operationType == .query, trial.isChosen(share: shadow.share) else { return }
      trial.generation.enter()
      ShadowRun(original: recorded, trial: trial, upstream: shadow.upstream, output: output).start { [self] in
        leave(trial.generation)
      }
    }
  }

  // MARK: Generations

  /// Makes a generation the current one, and retires its predecessor and any other generation on trial.
  func swap(to next: Generation) {
    let earlier = state.withLock { state in
      var earlier = [state.current]
      if let trial = state.trial, trial.generation !== next { earlier.append(trial.generation) }
      state.trial = nil
      state.current = next
      // Under the lock, so that two changes leave the policy of the later one.
      policies.set(next.clientPolicy)
      state.retired.append(contentsOf: earlier)
      return earlier
    }
    retire(earlier)
  }

  /// Puts a generation on trial, and retires one that is already on trial.
  func begin(_ trial: GenerationTrial) {
    let earlier = state.withLock { state in
      let earlier = state.trial.map { [$0.generation] } ?? []
      state.trial = trial
      state.retired.append(contentsOf: earlier)
      return earlier
    }
    retire(earlier)
  }

  /// Ends a trial and retires its generation.
  ///
  /// - Returns: False if the trial is over already.
  func giveUp(_ trial: GenerationTrial) -> Bool {
    let isGivenUp = state.withLock { state in
      guard state.trial === trial else { return false }
      state.trial = nil
      state.retired.append(trial.generation)
      return true
    }
    if isGivenUp { retire([trial.generation]) }
    return isGivenUp
  }

  /// Runs a change of generations and records its report. Generations that the change replaces end after the event of the report.
  func change<Report>(_ body: () -> Report) -> Report {
    retirement.suspend()
    defer { retirement.resume() }
    return body()
  }

  func note(_ report: ReloadReport) {
    events.send(GenerationEvent(report, redact: output.redacted))
    state.withLock { state in
      state.lastReload = report
      // The end of a trial is not a reload: the trial began with one.
      guard report.isReload else { return }
      state.reloads += 1
      if !report.isAccepted { state.refusedReloads += 1 }
    }
  }

  private func retire(_ generations: [Generation]) {
    for generation in generations where generation.retire() { end(generation) }
  }

  /// Releases a generation on a separate queue: its plugins are drained and ended with it.
  private func end(_ generation: Generation) {
    retirement.async { [self] in
      // May run twice, from `retire` and from the last `leave`. Only the first run finds the generation in the list.
      let isListed = state.withLock { state in
        guard let index = state.retired.firstIndex(where: { $0 === generation }) else { return false }
        state.retired.remove(at: index)
        return true
      }
      guard isListed else { return }
      Task { await generation.host.shutDown() }
      events.send(GenerationEvent(ended: generation.number))
      output.logger.info("a generation ended", metadata: ["generation": "\(generation.number)"])
    }
  }
}
