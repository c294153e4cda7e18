internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Glibc
internal import Synchronization

extension Check {
  static let concurrentHooks = Check(
    "TH02", level: 5, "handles sixteen threads at once",
    page: Page(
      rule: """
        An interceptor of the thread class CONCURRENT gives the same answers when sixteen threads send calls through one instance.
        A cache may miss entries that other calls have evicted, but answers only what it also answers alone, or a result of the same
        operation. Run this check in a build with ThreadSanitizer, too.
        """,
      reason: """
        CONCURRENT means that hooks of different calls overlap. Without a lock two threads then change the state of the instance
        at once.
        """,
      example: "instance->count++;            /* read by another thread at the same moment */",
      remedy: "Use atomics or a lock for shared state, or declare SERIAL or PER_CALL."),
    timeLimit: .seconds(180),
    .interceptor { trial in
      guard trial.interceptor.threadClass == UInt32(CRB_THREADS_CONCURRENT) else {
        throw TrialNotes.Skip("it does not declare CONCURRENT")
      }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let varies = trial.options.capabilities.contains("varies")
      let rounds = trial.options.times(100, atLeast: 10)
      for stage in trial.stages {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let known = try Answers(of: trial, stage, instance)
        let crowd = (0..<16).map { _ in
          TestHostThread {
            for _ in 0..<rounds {
              for (index, passage) in trial.travel(Exchange.usual, stage, instance).enumerated()
              where !varies && !known.include(passage, at: index) {
                trial.notes.fail(
                  "its answer changes with many threads: \(Exchange.usual[index].name)",
                  at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
              }
            }
          }
        }
        for thread in crowd { thread.join() }
        try AlignedThreads(stage).run {
          try sendNews(trial, stage, rounds)
          try sendTwins(trial, stage, rounds)
          if !varies, stage.kind != .cache { try compareContents(trial, stage, rounds) }
          if stage.kind == .cache { try readTogether(trial, stage, rounds) }
        }
      }
    })

  /// Sends new names, callers and contents to an instance on many threads.
  private static func sendNews(_ trial: InterceptorTrial, _ stage: StageHooks, _ rounds: Int) throws {
    // Each round has a new instance, because a full table of an instance accepts no new entries.
    for _ in 0..<8 {
      let instance = try trial.instance()
      defer { instance.destroy() }
      let crowd = (0..<16).map { thread in
        TestHostThread {
          for number in 0..<rounds {
            let news = Exchange("a new name on each of many threads") {
              let name = "N\(thread)x\(number)"
              $0.operation.name = name
              $0.operation.document = "query \(name) { books { id } }"
              $0.operation.variables = "{\"first\":\(thread * 100_000 + number)}"
              let caller = HeaderSample(name: "Authorization", value: "Bearer \(name)", isSensitive: true)
              $0.add([caller] + trial.words.fields(name).prefix(12))
              $0.request.url = "https://\(name.lowercased()).example/graphql"
            }
            _ = trial.travel([news], stage, instance)
          }
        }
      }
      for thread in crowd { thread.join() }
    }
  }

  /// Sends equal requests on several threads at the same moment, if the stage lets only the first of equal requests pass.
  private static func sendTwins(_ trial: InterceptorTrial, _ stage: StageHooks, _ rounds: Int) throws {
    let instance = try trial.instance()
    defer { instance.destroy() }
    func twin(_ number: Int) -> Exchange {
      var exchange = Exchange.mutation
      exchange.name = "one of equal mutations"
      exchange.add(trial.words.fields("twin-0123456789abcdef-\(number)"))
      return exchange
    }
    func passes(_ exchange: Exchange) -> Bool {
      trial.travel([exchange], stage, instance)[0].steps.first?.verdict == Verdict.continue
    }
    let first = twin(-1)
    guard passes(first), !passes(first), passes(twin(-2)) else { return }
    let meeting = Meeting()
    let passed = (0..<2).map { _ in Locked([Int]()) }
    let threads = passed.map { passed in
      TestHostThread {
        for number in 0..<(rounds * 40) {
          let exchange = twin(number)
          meeting.wait(number + 1)
          if passes(exchange) { passed.withLock { $0.append(number) } }
        }
      }
    }
    for thread in threads { thread.join() }
    let both = Set(passed[0].withLock { $0 }).intersection(passed[1].withLock { $0 })
    trial.notes.expect(
      both.isEmpty, "of equal calls it lets one pass, and both if they come at the same moment: look and insert under one lock",
      at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
  }

  /// Reads many entries of a cache on all threads at once, and writes a few.
  private static func readTogether(_ trial: InterceptorTrial, _ stage: StageHooks, _ rounds: Int) throws {
    let count = 200
    let entries = (0..<count).map { number in
      Exchange("the entry \(number)") {
        $0.operation.variables = #"{"entry":\#(number)}"#
        $0.results = [ResultSample(data: #"{"entry":"n\#(number)"}"#)]
      }
    }
    let instance = try trial.instance()
    defer { instance.destroy() }
    _ = trial.travel(entries, stage, instance)
    @Sendable func judge(_ entry: Int) {
      var read = entries[entry]
      if entry % 16 != 0 { read.results = [] }
      let passage = trial.travel([read], stage, instance)[0]
      let text = passage.elements.first.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "\"n\(entry)\""
      trial.notes.expect(
        text.contains("\"n\(entry)\""), "with many threads it answers a request for entry \(entry) with \(text.prefix(80))",
        at: "\(trial.interceptor.id) cache")
    }
    let crowd = (0..<16).map { thread in
      TestHostThread { for step in 0..<(count * max(rounds / 10, 1)) { judge((step * (2 * thread + 1) + thread) % count) } }
    }
    for thread in crowd { thread.join() }
    for entry in 0..<count { judge(entry) }
  }

  /// Sends other contents on each thread, and compares the answers with those to the same contents without other threads.
  private static func compareContents(_ trial: InterceptorTrial, _ stage: StageHooks, _ rounds: Int) throws {
    let names = trial.words.names.filter { $0.lowercased() != "content-type" }
    let exchanges = (0..<8).map { number in
      Exchange("the contents of thread \(number)") {
        let value = (0...number).map { "t\(number)-\($0)" }.joined(separator: ",")
        let fields = names.map { HeaderSample(name: $0, value: value) }
        $0.operation.headers += fields
        $0.request.headers += fields
        let members = names.map { "\"\($0)\":\"\(value)\"" }.joined(separator: ",")
        let filler = String(repeating: value, count: 40)
        $0.results = [ResultSample(data: "{\(members),\"filler\":\"\(filler)\"}")]
        $0.operation.variables = "{\(members)}"
        $0.chunks = [Array("{\"data\":{\(members)}}".utf8)]
      }
    }
    let instance = try trial.instance()
    defer { instance.destroy() }
    func answers() -> [String] { trial.travel(exchanges, stage, instance).map(\.fingerprint) }
    let (first, expected) = (answers(), answers())
    guard first == expected else { return }
    let crowd = exchanges.indices.map { index in
      TestHostThread {
        for _ in 0..<(rounds * 3) where trial.travel([exchanges[index]], stage, instance)[0].fingerprint != expected[index] {
          trial.notes.fail(
            "with many threads it mixes the contents of calls", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          return
        }
      }
    }
    for thread in crowd { thread.join() }
  }
}

/// A reusable barrier for two threads.
private final class Meeting: Sendable {
  private let arrived = Atomic(0)
  private static let spins = 2000
  /// The number of spins after which a thread stops waiting: some seconds.
  private static let maximumSpins = 1 << 30

  /// Waits until both threads have arrived in this round. Rounds are counted from 1.
  func wait(_ number: Int) {
    arrived.add(1, ordering: .acquiringAndReleasing)
    var spin = 0
    while arrived.load(ordering: .acquiring) < 2 * number, spin < Self.maximumSpins {
      spin += 1
      // On a machine with one processor, the other thread cannot run otherwise.
      if spin % Self.spins == 0 { sched_yield() }
    }
  }
}

/// The answers of a stage to the usual exchanges without other threads.
private struct Answers {
  private let isCache: Bool
  /// By exchange; nil if the answer varies even without other threads.
  private let fingerprints: [String?]
  /// By exchange: whether it fails without other threads.
  private let failures: [Bool]
  /// All answers of a cache.
  private let hits: Set<[Staged.Element]>

  init(of trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) throws {
    isCache = stage.kind == .cache
    _ = trial.travel(Exchange.usual, stage, instance)
    let (first, second) = (trial.travel(Exchange.usual, stage, instance), trial.travel(Exchange.usual, stage, instance))
    fingerprints = zip(first, second).map { $0.fingerprint == $1.fingerprint ? $0.fingerprint : nil }
    failures = second.map { $0.verdict == Verdict.fail }
    var hits = Set((first + second).map(\.elements))
    if isCache {
      // Either of two calls with the same key may write last. So each exchange is written last once, and the others then evict it
      // from a small cache.
      for exchange in Exchange.usual {
        let own = try trial.instance()
        for passage in trial.travel([exchange, exchange] + Exchange.usual, stage, own) { hits.insert(passage.elements) }
        own.destroy()
      }
    }
    self.hits = hits
  }

  func include(_ passage: ExchangeResult, at index: Int) -> Bool {
    if isCache {
      guard passage.verdict != Verdict.fail || failures[index] else { return false }
      return passage.elements.isEmpty || hits.contains(passage.elements) || isShared(passage, at: index)
    }
    return fingerprints[index].map { $0 == passage.fingerprint } ?? true
  }

  /// Whether a cache answered with the result of a concurrent call with the same operation.
  private func isShared(_ passage: ExchangeResult, at index: Int) -> Bool {
    let operation = Exchange.usual[index].operation
    let results = Exchange.usual.filter {
      $0.operation.document == operation.document && $0.operation.variables == operation.variables
    }
    .filter { $0.results.count == 1 && $0.results[0].errors == nil }
    return passage.elements.count == 1 && results.contains { Array($0.results[0].json.utf8) == passage.elements[0].bytes }
  }
}

extension Check {
  static let changingThreads = Check(
    "TH03", level: 5, "works on any thread",
    page: Page(
      rule: "Hooks of one call may run on different threads, one after the other. The answers are the same.",
      reason: """
        A host has several event loops and thread pools. SERIAL means one thread at a time, not always the same thread.
        """,
      example: "static _Thread_local attempt current;        /* set in on_request, read in on_result */",
      remedy: "Keep data of a call in its state, and data of all calls in the instance."),
    .interceptor { trial in
      let varies = trial.options.capabilities.contains("varies")
      for stage in trial.stages {
        // SE14 reports answers that also vary on one thread.
        let answers = try [false, false, true].map { changes -> [String] in
          let instance = try trial.instance()
          defer { instance.destroy() }
          let settings = ExchangeRunner.Settings(changesThreads: changes)
          return trial.travel(Exchange.usual, stage, instance, settings).map(\.fingerprint)
        }
        for (index, exchange) in Exchange.usual.enumerated()
        where !varies && answers[0][index] == answers[1][index] && answers[0][index] != answers[2][index] {
          trial.notes.fail(
            "its answer changes when threads change: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      if !varies { try passBetweenStages(trial) }
    })

  /// Runs the HTTP stage while the GraphQL stage is in its call, on the same thread and on another one.
  private static func passBetweenStages(_ trial: InterceptorTrial) throws {
    guard let outer = trial.stages.first(where: { $0.kind == .graphQL }),
      let inner = trial.stages.first(where: { $0.kind == .http })
    else { return }
    let fields = trial.words.fields("of-one-caller")
    let exchange = Exchange("a call through two stages") {
      $0.operation.headers += fields
      $0.operation.variables = "{\(trial.words.names.map { "\($0.json):\"of-one-caller\"" }.joined(separator: ","))}"
    }
    let answers = try [false, false, true].map { changes -> String in
      let instance = try trial.instance()
      defer { instance.destroy() }
      let found = Mutex("")
      var settings = ExchangeRunner.Settings()
      settings.aroundHooks = { isBefore, hook in
        guard !isBefore, hook == .onRequest else { return }
        let run = { trial.travel([Exchange("the HTTP request of it")], inner, instance)[0].fingerprint }
        let text = changes ? TestHostThread.run(run) ?? "" : run()
        found.withLock { $0 = text }
      }
      _ = trial.travel([exchange], outer, instance, settings)
      return found.withLock { $0 }
    }
    trial.notes.expect(
      answers[0] != answers[1] || answers[0] == answers[2],
      "its HTTP stage answers differently on another thread than that of its GraphQL stage; pass data in baggage",
      at: "\(trial.interceptor.id) http")
  }
}

extension Check {
  static let concurrentCancel = Check(
    "TH04", level: 5, "can be cancelled in the middle of any hook",
    page: Page(
      rule: "on_cancel may run on another thread while a hook of the same call runs, and before or after it.",
      reason: "A client can disconnect at any time, not only between two hooks.",
      example: #"""
        static void on_cancel(…) { close(state->fd); state->fd = -1; }        /* while on_chunk writes to it */
        """#,
      remedy: "Set an atomic flag, wake the waiting thread, and return. Let the hook read the flag."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      for hook in Hook.allCases {
        var settings = ExchangeRunner.Settings()
        settings.cancelsDuring = hook
        for _ in 0..<trial.options.times(20, atLeast: 3) { try trial.exercise(Exchange.usual, settings) }
      }
    })
}
