internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let memoryOfEndedCalls = Check(
    "ME09", level: 5, "keeps no memory of completed calls",
    page: Page(
      rule: """
        Calls of each kind leave less than 16 bytes for each call: of each operation, with large bodies, cancelled, failed, and retried,
        and for a parser with malformed bodies. A cache keeps the data of one key once.
        """,
      reason: """
        A host runs for months. Sixteen bytes per call at a thousand calls a second are more than a gigabyte a day.
        """,
      example: "static void release(void *inst, void *state) { (void)state; }        /* on_request allocates it */",
      remedy: "static void release(void *inst, void *state) { free(state); }"),
    timeLimit: .seconds(180),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let count = trial.options.times(10_000, atLeast: 1000)
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let kinds = kinds(trial, stage)
        let share = max(count / kinds.count, 100)
        for (exchange, settings) in kinds {
          var deadline = ContinuousClock.now + .seconds(4)
          /// The growth of the heap for each call, in bytes; nil if the time allowed only a few calls.
          func pass(_ count: Int) -> Double? {
            trial.forgetTexts()
            let before = CTestHost_heapInUse()
            var calls = 0
            while calls < count, ContinuousClock.now < deadline {
              _ = trial.travel([exchange], stage, instance, settings)
              calls += 1
            }
            trial.settle(.milliseconds(20))
            trial.forgetTexts()
            return calls > 20 ? Double(Int(CTestHost_heapInUse()) - Int(before)) / Double(calls) : nil
          }
          _ = pass(share / 5)
          // The test host itself allocates at times. So only a growth in each pass counts as a leak.
          guard [pass(share * 2 / 5), pass(share * 2 / 5)].compactMap(\.self).min() ?? 0 >= 16 else { continue }
          // Memory pools of a language runtime grow for a while. The last pass is longer than that.
          deadline = .now + .seconds(4)
          let perCall = [pass(share), pass(share), pass(share * 4)].compactMap(\.self).min() ?? 0
          trial.notes.expect(perCall < 16, "each call leaks \(Int(perCall)) bytes: \(exchange.name)", at: place)
        }
        findRareLeaks(trial, stage, instance, place)
      }
    })
}

extension Check {
  /// Looks for a leak of each call of one unusual kind.
  private static func findRareLeaks(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String)
  {
    let deadline = ContinuousClock.now + .seconds(6)
    for exchange in Exchange.varied(trial.words) where ContinuousClock.now < deadline {
      /// The growth of the heap for each call, in bytes; zero if the time allowed less than half of the calls.
      func growth(_ count: Int, limit: Duration = .seconds(2)) -> Int {
        trial.forgetTexts()
        let before = CTestHost_heapInUse()
        let end = ContinuousClock.now + limit
        var calls = 0
        while calls < count, ContinuousClock.now < end {
          _ = trial.travel([exchange], stage, instance)
          calls += 1
        }
        trial.settle(.milliseconds(1))
        trial.forgetTexts()
        return calls > count / 2 ? (Int(CTestHost_heapInUse()) - Int(before)) / calls : 0
      }
      _ = growth(10)
      // Allocators keep some kilobytes. So only a growth over thousands of calls counts as a leak.
      guard growth(10) >= 16, growth(20) >= 16, growth(100) >= 16, growth(500) >= 16 else { continue }
      let left = growth(4000, limit: .seconds(10))
      if left >= 16 { trial.notes.fail("each call leaks \(left) bytes: \(exchange.name)", at: place) }
    }
  }

  /// Every kind of call that a stage may have to clean up after.
  private static func kinds(_ trial: InterceptorTrial, _ stage: StageHooks) -> [(Exchange, ExchangeRunner.Settings)] {
    let plain = ExchangeRunner.Settings()
    var retried = ExchangeRunner.Settings()
    retried.forcedRetries = 2
    let large = Exchange("a query with a large body") {
      let text = String(repeating: "x", count: 100_000)
      $0.results = [ResultSample(data: "{\"text\":\"\(text)\"}")]
      $0.chunks = [Array("{\"data\":{\"text\":\"\(text)\"}}".utf8)]
      $0.request.body = Array(text.utf8)
    }
    var broken = Exchange("a query whose body breaks off")
    broken.ending = .error(ErrorSample())
    var failed = Exchange.unavailable
    failed.name = "a query that is sent three times"
    let malformed = stage.kind == .parsing ? ParserTrial(trial).malformed.map { ($0, plain) } : []
    return Exchange.usual.map { ($0, plain) } + [(large, plain), (broken, plain), (failed, retried)] + malformed
  }

  static let resourcesOfEndedCalls = Check(
    "ME11", level: 5, "keeps no descriptors, mappings, threads or keys of completed calls",
    page: Page(
      rule: """
        During 16,000 calls the numbers of descriptors, mappings, threads, thread keys and baggage keys do not grow in every
        quarter. Names of baggage keys are a few constants, and never contain data of a request.
        """,
      reason: """
        A process usually has 1,024 descriptors, 65,530 mappings and 1,024 thread keys, and a host has 1,024 baggage keys. If one
        call in a thousand leaks one of them, the host refuses connections after a day.
        """,
      example: """
        int file = open(path, O_RDONLY);  if (read(file, …) < 0) return CRB_FAIL;        /* and file stays open */
        host->key(self, text(request_id))                                               /* a key for each request */
        """,
      remedy: "Close descriptors on every way out of a function. Ask for keys in create(), and keep them."),
    timeLimit: .seconds(300),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let quarter = trial.options.times(4000, atLeast: 1100)
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let run = LongRun(trial, stage, instance, limit: .seconds(10))
        func names() -> Int { trial.testHost.state.withLock { $0.keys.count } }
        run.run(Exchange.usual.count * 4)
        let known = names()
        findEarly(trial, run, place)
        run.run(quarter)
        let holdings = ProcessHoldings.now
        var (states, calls) = ([ProcessState.now], 0)
        for _ in 0..<3 {
          calls += run.run(quarter)
          states.append(.now)
        }
        func left(_ amount: @escaping (ProcessState) -> Int) -> Int {
          let steps = zip(states, states.dropFirst()).map { amount($1) - amount($0) }
          return steps.allSatisfy { $0 > 0 } ? steps.reduce(0, +) : 0
        }
        if left(\.descriptors) > 0 {
          let example = ProcessHoldings.now.openedDescriptors(since: holdings).first.map { "; \($0)" } ?? ""
          trial.notes.fail("\(calls) calls leak \(left(\.descriptors)) descriptors\(example)", at: place)
        }
        if left(\.mapped) > 0 { trial.notes.fail("\(calls) calls leak \(left(\.mapped) >> 10) KiB of mappings", at: place) }
        if left(\.threads) > 0 { trial.notes.fail("\(calls) calls leave \(left(\.threads)) threads running", at: place) }
        if left(\.usedKeys) > 0 { trial.notes.fail("\(calls) calls leak \(left(\.usedKeys)) thread keys", at: place) }
        if names() > known + maximumNewKeys {
          trial.notes.fail("\(calls) calls name \(names() - known) new baggage keys", at: place)
        }
        findNewKeys(trial, stage, instance, place)
        findRare(trial, stage, instance, place)
      }
    })

  /// Looks for a leak of every call with few calls, before the leak uses up all descriptors or thread keys.
  private static func findEarly(_ trial: InterceptorTrial, _ run: LongRun, _ place: String) {
    let calls = Exchange.usual.count * 6
    var states = [ProcessState.now]
    for _ in 0..<2 {
      run.run(calls)
      states.append(.now)
    }
    for (name, amount) in [("descriptors", \ProcessState.descriptors), ("threads", \.threads), ("thread keys", \.usedKeys)]
    where zip(states, states.dropFirst()).allSatisfy({ $1[keyPath: amount] - $0[keyPath: amount] >= Exchange.usual.count * 2 }) {
      trial.notes.fail("\(2 * calls) calls leak \(states[2][keyPath: amount] - states[0][keyPath: amount]) \(name)", at: place)
    }
  }

  /// Sends new values in headers and names. They must not become names of baggage keys.
  private static func findNewKeys(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String) {
    let calls = 60
    let before = trial.testHost.state.withLock { $0.keys.count }
    for number in 0..<calls {
      let exchange = Exchange("headers with a new value") {
        $0.operation.name = "New\(number)"
        $0.add(trial.words.fields("new\(number)"))
      }
      _ = trial.travel([exchange], stage, instance)
    }
    let new = trial.testHost.state.withLock { $0.keys.count } - before
    trial.notes.expect(new < calls / 2, "\(calls) calls with values of their own name \(new) new baggage keys", at: place)
  }

  /// Looks for a leak of each call of one kind.
  private static func findRare(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String) {
    let calls = 6
    for exchange in Exchange.varied(trial.words) {
      var counts = [ProcessState.openDescriptors]
      for _ in 0..<3 where counts.count < 2 || counts[counts.count - 1] >= counts[counts.count - 2] + calls {
        _ = trial.travel(Array(repeating: exchange, count: calls), stage, instance)
        counts.append(ProcessState.openDescriptors)
      }
      let leaked = counts[counts.count - 1] - counts[0]
      if leaked >= 3 * calls {
        return trial.notes.fail("\(3 * calls) calls leak \(leaked) descriptors: \(exchange.name)", at: place)
      }
    }
  }

  /// How many baggage keys may be new after the first calls, because some hooks first run later.
  private static let maximumNewKeys = 4
}
