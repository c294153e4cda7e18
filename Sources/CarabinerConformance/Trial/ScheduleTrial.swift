/// All orders of events for a hook that suspends.
struct ScheduleTrial {
  private let trial: InterceptorTrial

  init(_ trial: InterceptorTrial) { self.trial = trial }

  /// Plays every order with every exchange in which a hook suspends.
  ///
  /// - Throws: ``TrialNotes/Skip`` if none does.
  func play(withRevocation: Bool = true) throws {
    var hasSuspended = false
    for stage in trial.stages {
      let probe = try trial.instance()
      let suspending = Exchange.usual.filter { exchange in
        trial.travel([exchange], stage, probe)[0].steps.contains(where: \.wasPending)
      }
      probe.destroy()
      // A stage that suspends only once, to fetch and keep data, suspends again in a new instance.
      let exchanges = suspending.prefix(4)
      for schedule in Schedule.all where withRevocation || !(schedule.beforeReturn + schedule.afterReturn).contains(.revoke) {
        for exchange in exchanges {
          hasSuspended = true
          let instance = try trial.instance()
          var settings = ExchangeRunner.Settings()
          settings.schedule = schedule
          FlightRecord.note("order: \(schedule)", inHook: false)
          _ = trial.travel([exchange], stage, instance, settings)
          instance.destroy()
        }
      }
    }
    if !hasSuspended { throw TrialNotes.Skip("none of its hooks suspends in any exchange") }
  }
}
