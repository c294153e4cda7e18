internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let boundedKeys = Check(
    "ME15", level: 5, "keeps a bounded number of keys",
    page: Page(
      rule: """
        The memory of an instance stops growing after 65,536 requests that all differ in their operation, variables, credentials and
        headers. A cache may keep 64 MiB, and nothing of the entries that it has removed.
        """,
      reason: """
        Clients choose names, variables and headers. A table with an entry for each of them grows until the host has no memory, and
        any client can make it grow.
        """,
      example: "entry *e = find(table, operation_name);  if (!e) e = insert(table, operation_name);        /* never removed */",
      remedy: """
        Limit the number of entries and remove the oldest, or forget entries by time. If the limit is larger than 65,536, or 64 MiB,
        test with a configuration that sets a smaller one.
        """),
    timeLimit: .seconds(240),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let names = Array(trial.words.names.filter { $0.lowercased() != "content-type" }.prefix(24))
      let quarter = trial.options.times(22_000, atLeast: 1500)
      let deadline = ContinuousClock.now + maximumTime
      for stage in trial.stages {
        // Caches often have a limit in bytes.
        let (padding, allowed) = stage.kind == .cache ? (String(repeating: "x", count: 1024), cacheBytes) : ("", 0)
        var number = 0
        // ME09 reports a leak of every call.
        guard !trial.leaks(exchange(0, names, padding), stage, instance) else { continue }
        let growth = (0..<4).map { _ in
          heapGrowth(trial, stage, instance, calls: quarter, until: deadline) {
            number += 1
            return exchange(number, names, padding)
          }
        }
        let perCall = Double(growth.suffix(2).min() ?? 0) / Double(quarter)
        guard perCall >= 16, growth.reduce(0, +) >= allowed, ContinuousClock.now < deadline else { continue }
        let text = "it keeps \(Int(perCall)) bytes for each new request, after \(number) different ones, without a limit"
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        // With fewer calls, the plugin may not have reached a limit that it has.
        if trial.options.effort < 1 { trial.notes.warn(text, at: place) } else { trial.notes.fail(text, at: place) }
      }
      for stage in trial.stages where stage.kind == .cache { try fillAndReplace(trial, stage) }
    })

  /// Fills a cache with large results. Then further results replace entries, and memory of the replaced entries that stays is a
  /// leak.
  private static func fillAndReplace(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    let instance = try trial.instance()
    defer { instance.destroy() }
    let deadline = ContinuousClock.now + maximumTime
    let text = String(repeating: "x", count: resultBytes)
    // Numbers with the same number of digits, for keys of one size.
    var number = 1_000_000
    func leftOfEach(_ calls: Int) -> Double {
      let growth = heapGrowth(trial, stage, instance, calls: calls, until: deadline) {
        number += 1
        return exchange(number, [], "", result: text)
      }
      return Double(growth) / Double(calls)
    }
    // ME09 reports a leak of every call.
    guard !trial.leaks(exchange(0, [], ""), stage, instance) else { return }
    _ = leftOfEach(cacheBytes / resultBytes * 11 / 10)
    let left = (0..<3).map { _ in leftOfEach(300) }.min() ?? 0
    // The first part of the check reports a cache without a limit.
    guard left >= 16, left < Double(resultBytes) / 2, ContinuousClock.now < deadline else { return }
    trial.notes.fail(
      "it keeps \(Int(left)) bytes of each entry that a new one replaces", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
  }

  /// The bytes that a cache may keep.
  private static let cacheBytes = 64 << 20
  /// The bytes of a result. Some thousand results of this size fill each cache.
  private static let resultBytes = 32 << 10
  /// The time limit of each part of the check, which then has no finding.
  private static let maximumTime = Duration.seconds(30)

  /// The growth of the heap in bytes after calls with different exchanges. No call begins after the deadline.
  private static func heapGrowth(
    _ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, calls: Int,
    until deadline: ContinuousClock.Instant, _ next: () -> Exchange
  ) -> Int {
    let before = CTestHost_heapInUse()
    for number in 1...calls where ContinuousClock.now < deadline {
      _ = trial.travel([next()], stage, instance)
      if number % 100 == 0 { trial.forgetTexts() }
    }
    trial.forgetTexts()
    return Int(CTestHost_heapInUse()) - Int(before)
  }

  private static func exchange(_ number: Int, _ names: [String], _ padding: String, result: String = "") -> Exchange {
    Exchange("request \(number) of many different ones") {
      $0.operation.name = "Op\(number)"
      $0.operation.document = "query Op\(number) { books(first: \(number)) { id } }"
      $0.operation.variables = #"{"first":\#(number),"text":"\#(padding)"}"#
      let fields =
        ["Authorization", "Cookie"].map { HeaderSample(name: $0, value: "user=\(number)", isSensitive: true) }
        + names.map { HeaderSample(name: $0, value: "v\(number)") }
      $0.operation.headers = fields
      $0.request.headers = fields
      $0.request.url = "https://books.example/graphql?n=\(number)"
      $0.results = [ResultSample(data: #"{"books":[{"id":"\#(number)","text":"\#(result)"}]}"#)]
    }
  }
}

extension InterceptorTrial {
  /// Whether equal calls allocate more and more.
  func leaks(_ exchange: Exchange, _ stage: StageHooks, _ instance: TestHostInstance) -> Bool {
    func pass() -> Int {
      let before = CTestHost_heapInUse()
      for _ in 0..<200 { _ = travel([exchange], stage, instance) }
      forgetTexts()
      return Int(CTestHost_heapInUse()) - Int(before)
    }
    _ = pass()
    return min(pass(), pass()) >= 200 * 16
  }

  /// Removes data that the test host keeps for other checks, so that it does not count as growth.
  func forgetTexts() {
    testHost.state.withLock { state in
      state.logged = []
      state.carried = []
    }
  }
}
