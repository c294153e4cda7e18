internal import CarabinerBridge
internal import Synchronization

/// The child's side of fuzzing: sends cases through all stages of a plugin.
struct FuzzTrial {
  private let interceptors: [InterceptorTrial]
  private let notes: TrialNotes

  init(_ trial: LoadingTrial) throws {
    notes = trial.notes
    // Like a newer host, the table has slots that are not in the header yet.
    var generator = SeededGenerator(trial.options.seed)
    let slots = Int.random(in: 0...64, using: &generator)
    interceptors = trial.interceptors(of: try trial.library(host: .init(extraBytes: slots * MemoryLayout<UInt>.size)))
  }

  func play(_ one: FuzzCase, keeping kept: Set<Int>?) {
    FlightRecord.note("case \(one.name)", inHook: false)
    for interceptor in interceptors { play(one.setup(keeping: kept), interceptor) }
    for breach in TestHost.current.takeBreaches() {
      notes.add(Finding(breach.check, breach.severity, breach.message, place: "\(breach.place) (case \(one.name))"))
    }
  }

  private func play(_ setup: FuzzMutation.Setup, _ trial: InterceptorTrial) {
    let testHost = trial.testHost
    testHost.state.withLock { state in
      state.grants = setup.grants
      state.faults = setup.faults
      state.isGuarded = setup.isGuarded
      state.newerAnswer = UInt64(bitPattern: Int64(setup.newerAnswer))
    }
    defer {
      testHost.state.withLock { state in
        state.grants = ["fetch", "store"]
        state.faults.clear()
        state.newerAnswer = 0
      }
    }
    var configuration: String?
    if let number = setup.configuration, trial.options.configuration == nil {
      configuration =
        ConfigurationVariants.texts(for: trial.interceptor.configurationSchema, count: 2, seed: number).last
    }
    // A plugin may refuse to create an instance.
    guard let instance = try? trial.instance(configuration) else { return }
    for stage in trial.stages { _ = trial.travel(setup.exchanges, stage, instance, setup.settings) }
    instance.destroy()
  }
}
