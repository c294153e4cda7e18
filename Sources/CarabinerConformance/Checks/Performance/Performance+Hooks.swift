internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

extension Check {
  static let allocations = Check(
    "PF01", level: 6, "lets a request pass without allocating",
    page: Page(
      rule: """
        A stage that passes a call unchanged and without a state calls no allocator of libc in its hooks, and 99 of 100 hooks take
        less than 200 µs. Anything else is a warning, because some stages need it.
        """,
      reason: "Every request passes every stage, and waits for each of them.",
      example: "crb_verdict on_result(…) { char *copy = strndup(result->json.ptr, result->json.len); … free(copy); }",
      remedy: """
        Read views in place. Use scratch() for memory of one call, and create() for memory that all calls share.
        """
    ),
    .interceptor { trial in
      guard let code = unsafe trial.stages.first?.code, unsafe CTestHost_watchAllocations(code) > 0 else {
        throw TrialNotes.Skip("it imports no allocator of libc, so there is nothing to count")
      }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let count = trial.options.times(2000, atLeast: 200)
      for stage in trial.stages {
        // The first calls make allocations that happen only once.
        _ = trial.travel(Array(repeating: Exchange("a query"), count: 20), stage, instance)
        let clock = HookClock()
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, _ in clock.note(isBefore) }
        let passages = trial.travel(Array(repeating: Exchange("a query"), count: count), stage, instance, settings)
        let isPassing = passages.allSatisfy {
          $0.steps.allSatisfy { $0.verdict == Verdict.continue && !$0.wasPending && !$0.staged.isEdited } && !$0.wasReleased
        }
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        if isPassing, clock.allocations > 0 {
          trial.notes.warn(
            "its hooks allocate \(Double(clock.allocations) / Double(max(clock.hooks, 1))) times each, although they change nothing",
            at: place)
        }
        // The best of several batches counts, because other load of the machine slows only some batches.
        var slow = UInt64.max
        for _ in 0..<40 where slow > 200_000 {
          let clock = HookClock()
          var settings = ExchangeRunner.Settings()
          settings.aroundHooks = { isBefore, _ in clock.note(isBefore) }
          _ = trial.travel(Array(repeating: Exchange("a query"), count: count / 2), stage, instance, settings)
          slow = min(slow, clock.percentile(0.99))
        }
        if slow > 200_000 { trial.notes.warn("one of 100 hooks takes \(slow / 1000) µs or more", at: place) }
      }
    })
}

extension Check {
  static let systemCallsInHooks = Check(
    "PF02", level: 9, "makes no system calls in hooks that do not wait",
    page: Page(
      rule: "A hook that does not suspend makes no system call. Each kind of hook that makes one is a warning.",
      reason: """
        A system call takes as long as a hundred hooks, and may wait for a disk, a lock of the kernel, or memory.
        """,
      example: "crb_verdict on_result(…) { fprintf(file, \"%u\\n\", count); fflush(file); … }",
      remedy: """
        Log with host->log(), which writes on another thread. Read the time with clock_gettime(), which is usually not a system
        call. Write files on your own thread.
        """
    ),
    .interceptor { trial in
      let counter = SystemCallCounter()
      guard counter.isPossible else { throw TrialNotes.Skip("this kernel or machine cannot report the system calls of a thread") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        _ = trial.travel(Exchange.usual, stage, instance)
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, hook in if isBefore { counter.begin() } else { counter.end(hook) } }
        for passage in trial.travel(Exchange.usual, stage, instance, settings) {
          for step in passage.steps where step.wasPending { counter.forgive(step.hook) }
        }
        for (hook, call) in counter.take() {
          trial.notes.warn(
            "\(hook.name) makes system calls; the first is \(SystemCall.name(of: call))",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}

extension Check {
  static let costPerByte = Check(
    "PF03", level: 5, "has a cost linear in the bytes",
    page: Page(
      rule: """
        A body, result, document or object of variables of sixteen times the size takes at most about sixteen times as long, for any
        content and chunk sizes. More than forty times is a warning, more than a hundred times a failure.
        """,
      reason: "If the work grows with the square of the size, one megabyte of input can stop a host.",
      example: "body = realloc(body, used + n);  memmove(body, body + seen, used - seen);     /* at every chunk */",
      remedy: "Grow buffers by doubling, look at each byte once, and keep your position in the state."),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        for content in LongContent.all(stage.kind) {
          compare(trial, stage, instance, content.name, LongContent.bytes) { bytes in
            Exchange(content.name) { content.put(&$0, bytes) }
          }
        }
      }
      for stage in trial.stages where stage.seesChunks {
        let types = stage.kind == .parsing ? ParserTrial(trial).acceptedTypes.map(Optional.some) : [nil]
        // Chunks of plain text, and chunks of a JSON string that ends in the last chunk.
        for (type, opening) in types.flatMap({ [($0, ""), ($0, #"{"data":{"text":""#)] }) {
          compare(trial, stage, instance, "a body in chunks", 256) { chunks in
            Exchange("a body in \(chunks) chunks") { exchange in
              if let type { exchange.head.headers = [HeaderSample(name: "Content-Type", value: type)] }
              exchange.isMalformed = true
              exchange.chunks = (0..<chunks).map { _ in Array(repeating: UInt8(ascii: "a"), count: 1024) }
              exchange.chunks[0] = Array(opening.utf8) + exchange.chunks[0]
              if !opening.isEmpty { exchange.chunks[chunks - 1] += Array(#""}}"#.utf8) }
            }
          }
        }
      }
    })

  /// Compares the time for an exchange of one size with that of 16 times the size.
  private static func compare(
    _ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ name: String, _ size: Int,
    _ exchange: (Int) -> Exchange
  ) {
    func time(_ size: Int) -> UInt64 {
      let exchange = exchange(size)
      var least = UInt64.max
      // A slow exchange is not repeated, because the result is clear.
      for _ in 0..<5 where least == .max || least < 200_000_000 {
        let clock = HookClock()
        var settings = ExchangeRunner.Settings()
        settings.aroundHooks = { isBefore, _ in clock.note(isBefore) }
        _ = trial.travel([exchange], stage, instance, settings)
        least = min(least, clock.total)
        // The time is too short to compare.
        if least < shortest { break }
      }
      return least
    }
    let long = time(size * 16)
    guard long > shortest else { return }
    let short = max(time(size), 1)
    guard long > short * 40 else { return }
    let text = "16 times the bytes take \(long / short) times as long (\(short / 1000) and \(long / 1000) µs): \(name)"
    let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
    if long > short * 100 { trial.notes.fail(text, at: place) } else { trial.notes.warn(text, at: place) }
  }

  /// The shortest time that is compared, in nanoseconds: about one microsecond for each KiB.
  private static let shortest: UInt64 = 4_000_000
}
