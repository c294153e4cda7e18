internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let sharedPlaces = Check(
    "ST08", level: 5, "gives back the places of calls, and wakes those that wait for them",
    page: Page(
      rule: """
        A stage that lets a limited number of calls pass at once lets as many pass after it has refused some, and after some that
        waited were cancelled. A call has one place, however often it is sent. A call that waits for another one continues when that one
        ends, fails or is cancelled, and so does the next.
        """,
      reason: """
        Each lost place is lost until a restart. After enough of them the stage refuses everything, and it happens after an overload, when
        the service has just recovered.
        """,
      example: "if (atomic_fetch_add(&running, 1) >= limit) return refuse(call);        /* and it stays counted */",
      remedy: """
        Count a call in one place, with a mark in its state that it is counted, and subtract it in release(). If a call that was given a
        place has ended, give the place to the next one.
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      var isLimited = false
      for stage in trial.stages where stage.kind != .parsing {
        if try keepsPlaces(trial, stage) { isLimited = true }
        if try wakesFollowers(trial, stage) { isLimited = true }
      }
      if !isLimited { throw TrialNotes.Skip("it lets all calls pass at once, and none waits for another") }
    })

  /// The number of calls at once. Most limits are lower.
  private static let crowd = 400

  /// Compares how many calls pass at once before and after some were refused. Returns false if the stage has no such limit.
  private static func keepsPlaces(_ trial: InterceptorTrial, _ stage: StageHooks) throws -> Bool {
    var isLimited = false
    let calls = CrowdedCalls(trial, stage)
    for (name, exchange) in [("query", Exchange("a query")), ("mutation", Exchange.mutation)] {
      let alone = try trial.instance()
      // A rate limit also refuses calls one after the other. It is not the subject of this check.
      let isFree = (0..<crowd).allSatisfy { _ in
        trial.travel([exchange], stage, alone)[0].steps.first?.verdict == Verdict.continue
      }
      alone.destroy()
      guard isFree else { continue }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let before = calls.admitted(of: crowd, exchange, instance)
      // Smaller numbers vary by chance.
      guard before > 3, before < crowd else { continue }
      isLimited = true
      let after = [calls.admitted(of: crowd, exchange, instance), calls.admitted(of: crowd, exchange, instance)]
      trial.notes.expect(
        (after.min() ?? 0) < before * 2,
        "of \(crowd) calls at once (\(name)) it lets \(before) pass, and \(after[1]) after two such crowds: it gives a place back twice",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      // A stage that adapts its limit to response times may let fewer calls pass.
      trial.notes.expect(
        (after.max() ?? 0) * 2 >= before,
        "of \(crowd) calls at once (\(name)) it lets \(before) pass, and \(after[1]) after two such crowds: it does not give back places",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      var again = ExchangeRunner.Settings()
      again.earlierAttempts = [exchange.hidden, exchange.hidden]
      for _ in 0..<crowd { _ = trial.travel([exchange], stage, instance, again) }
      let rest = calls.admitted(of: crowd, exchange, instance)
      trial.notes.expect(
        rest * 2 >= before,
        "of \(crowd) calls at once (\(name)) it lets \(before) pass, and \(rest) after calls that another stage sent again: a call takes a place at each attempt",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
    return isLimited
  }

  /// Ends a call in each possible way while an equal call waits for it. Returns false if no call waits.
  private static func wakesFollowers(_ trial: InterceptorTrial, _ stage: StageHooks) throws -> Bool {
    var hasWaited = false
    let calls = CrowdedCalls(trial, stage)
    let endings: [(String, Exchange)] = [
      ("ends", Exchange("a query")), ("fails", Exchange.unavailable), ("breaks off", Exchange.disconnected),
      ("is cancelled", Exchange.usual[9]),
    ]
    for (name, ending) in endings {
      let instance = try trial.instance()
      defer { instance.destroy() }
      var leader = ending
      leader.operation = OperationSample()
      leader.name = "a query that \(name) while an equal one waits"
      let follower = Exchange("a query beside an equal one that \(name)")
      guard let passage = calls.follow(leader, follower, instance).passage, passage.steps.first?.wasPending == true else {
        continue
      }
      hasWaited = true
      let next = trial.travel([Exchange("a query after one that \(name)")], stage, instance)[0]
      trial.notes.expect(
        next.verdict != Verdict.fail || name == "fails" || name == "breaks off",
        "after a call that \(name) while an equal one waited, it fails the next one",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
    for breach in trial.testHost.takeBreaches() {
      trial.notes.add(breach)
      guard breach.check == "ER06" else { continue }
      trial.notes.fail("a call that waits for another one does not continue: \(breach.message)", at: breach.place)
    }
    return hasWaited
  }
}
