internal import CCarabiner
internal import CarabinerHost
internal import Synchronization

extension Check {
  static let th02 = Check(
    "TH02", level: 7, "stands sixteen threads at once",
    page: Page(
      rule: #"""
        An interceptor of the thread class CONCURRENT gives the same answers when sixteen threads send calls through one instance. A cache may miss
        what others have displaced; what it answers is one of the answers it gives alone. Run it in a build with ThreadSanitizer, too.
        """#,
      reason: #"""
        CONCURRENT says that hooks of different calls overlap. State of the instance without a lock is then changed by two at once.
        """#,
      example: "instance->count++;            /* read by another thread at the same moment */",
      remedy: "Use atomics or a lock for what instances share, or declare SERIAL or PER_CALL."),
    timeLimit: .seconds(180),
    .interceptor { trial in
      guard trial.interceptor.threadClass == UInt32(CRB_THREADS_CONCURRENT) else {
        throw TrialNotes.Skip("it does not declare CONCURRENT")
      }
      trial.laboratory.state.withLock { $0.isGuarded = false }
      let varies = trial.options.capabilities.contains("varies")
      let rounds = trial.options.times(100, atLeast: 10)
      for stage in trial.stages {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let known = try Answers(of: trial, stage, instance)
        let crowd = (0..<16).map { _ in
          LaboratoryThread {
            for _ in 0..<rounds {
              for (index, passage) in trial.travel(Exchange.usual, stage, instance).enumerated()
              where !varies && !known.include(passage, at: index) {
                trial.notes.fail(
                  "it answers otherwise among many threads: \(Exchange.usual[index].name)",
                  at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
              }
            }
          }
        }
        for thread in crowd { thread.join() }
      }
    })
}

/// What a stage answers to the usual exchanges when nobody is beside it.
private struct Answers {
  private let isCache: Bool
  /// By exchange; nil if it varies all the same.
  private let fingerprints: [String?]
  /// By exchange: whether it fails alone.
  private let failures: [Bool]
  /// What a cache ever answered.
  private let hits: Set<[Staged.Element]>

  init(of trial: InterceptorTrial, _ stage: StageHooks, _ instance: LaboratoryInstance) throws {
    isCache = stage.kind == .cache
    _ = trial.travel(Exchange.usual, stage, instance)
    let (first, second) = (trial.travel(Exchange.usual, stage, instance), trial.travel(Exchange.usual, stage, instance))
    fingerprints = zip(first, second).map { $0.fingerprint == $1.fingerprint ? $0.fingerprint : nil }
    failures = second.map { $0.verdict == Verdict.fail }
    var hits = Set((first + second).map(\.elements))
    if isCache {
      // Which of two calls with the same key was there last is nobody's to say, so each is once, and a small cache keeps it no longer.
      for exchange in Exchange.usual {
        let own = try trial.instance()
        for passage in trial.travel([exchange, exchange] + Exchange.usual, stage, own) { hits.insert(passage.elements) }
        own.destroy()
      }
    }
    self.hits = hits
  }

  func include(_ passage: Passage, at index: Int) -> Bool {
    if isCache {
      guard passage.verdict != Verdict.fail || failures[index] else { return false }
      return passage.elements.isEmpty || hits.contains(passage.elements)
    }
    return fingerprints[index].map { $0 == passage.fingerprint } ?? true
  }
}
