internal import Synchronization

/// Measures one stage written in Swift for a tracer: on the way down until it calls `next`, on the way up from there.
struct StageSpan: Sendable {
  private final class Marks: Sendable {
    let start = ContinuousClock.now
    private let last: Mutex<ContinuousClock.Instant>
    private let calledNext = Mutex(false)

    init() { last = Mutex(start) }

    /// Returns the time since the last mark and sets a new mark.
    func lap() -> Duration {
      let now = ContinuousClock.now
      return last.withLock { last in
        defer { last = now }
        return now - last
      }
    }

    func noteNext() { calledNext.withLock { $0 = true } }
    var didCallNext: Bool { calledNext.withLock { $0 } }
  }

  private let tracer: any ChainTracer
  private let kind: StageEvent.Kind
  private let stage: String
  private let marks = Marks()

  init(tracer: any ChainTracer, kind: StageEvent.Kind, stage: String) {
    self.tracer = tracer
    self.kind = kind
    self.stage = stage
  }

  /// Reports what happened since the last mark.
  func finish(_ hook: String, _ direction: StageEvent.Direction, _ outcome: String, isFailure: Bool = false) {
    tracer.record(
      StageEvent(
        kind: kind, stage: stage, hook: hook, direction: direction, outcome: outcome, isFailure: isFailure,
        duration: marks.lap()))
  }

  /// Reports that the stage failed since the last mark.
  func fail(_ hook: String, _ direction: StageEvent.Direction, _ error: any Error) {
    finish(hook, direction, "failed: \(error)", isFailure: !error.isChainControl)
  }

  /// The stage called `next`: its way down is over.
  func descended() {
    marks.noteNext()
    finish("intercept", .down, "next")
  }

  /// `next` returned: its way up begins.
  func ascended() { _ = marks.lap() }

  /// Runs the stage and reports an error it throws itself.
  func intercepting<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      let value = try await body()
      if !marks.didCallNext { finish("intercept", .down, "answered without next") }
      return value
    } catch {
      if !marks.didCallNext { finish("intercept", .down, "threw \(error)", isFailure: !error.isChainControl) }
      throw error
    }
  }

  /// Reports each step of the stage's stream. The time of a pull that reaches inner stages counts for this stage.
  func traced<Element>(_ stream: PullStream<Element>) -> PullStream<Element> {
    return PullStream {
      do {
        let step = try await stream.pull()
        finish("results", .up, step.traceOutcome)
        return step
      } catch {
        fail("results", .up, error)
        throw error
      }
    }
  }
}

extension PullStream.Step {
  var traceOutcome: String {
    switch self {
    case .element: "result, more to come"
    case .last: "result"
    case .end: "end"
    }
  }
}
