internal import Carabiner
internal import CarabinerGateway
internal import Synchronization

/// Counts an operation in a generation until it is released. The generation does not end before that.
final class GenerationLease: Sendable {
  let generation: Generation
  private let live: GenerationManager
  /// The statistics of a canary, or of the generation it is compared with; nil if there is no canary.
  private let statistics: TrialStatistics?

  /// Counts an operation in the generation that is to run it.
  ///
  /// - Parameter key: Returns the key that decides whether a canary runs the operation.
  init(_ live: GenerationManager, key: (_ field: String?) -> String) {
    let (generation, trial) = live.enter(key)
    self.generation = generation
    self.live = live
    statistics = trial.flatMap { trial in
      guard case .canary = trial.kind else { return nil }
      return generation === trial.generation ? trial.own : trial.baseline
    }
  }

  deinit { live.leave(generation) }

  /// Returns the same results, which hold the lease until they are released.
  func holding<Operation: GraphQLOperation>(
    _ results: PullStream<GraphQLResponse<Operation>>
  ) -> PullStream<GraphQLResponse<Operation>> {
    guard let statistics else {
      return PullStream { [self] in
        defer { withExtendedLifetime(self) {} }
        return try await results.pull()
      }
    }
    let watch = TrialWatch(statistics)
    return PullStream { [self] in
      defer { withExtendedLifetime(self) {} }
      do {
        let step = try await results.pull()
        switch step {
        case .element(let response): watch.note(hasErrors: response.hasErrors)
        case .last(let response):
          watch.note(hasErrors: response.hasErrors)
          watch.end()
        case .end: watch.end()
        }
        return step
      } catch {
        if !(error is CancellationError) { watch.fail() }
        throw error
      }
    }
  }
}

/// Records one operation in the statistics of a trial.
private final class TrialWatch: Sendable {
  private let statistics: TrialStatistics
  private let start = ContinuousClock.now
  private let state = Mutex((hasErrors: false, isOver: false))

  init(_ statistics: TrialStatistics) { self.statistics = statistics }

  func note(hasErrors: Bool) {
    if hasErrors { state.withLock { $0.hasErrors = true } }
  }

  func fail() {
    note(hasErrors: true)
    end()
  }

  func end() {
    let ended: Bool? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      return state.hasErrors
    }
    if let ended { statistics.record(.now - start, isError: ended) }
  }
}
