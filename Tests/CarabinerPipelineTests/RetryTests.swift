import CarabinerPipeline
import Foundation
import Synchronization
import TestTools
import Testing

@Suite("Retries of a chain", .timeLimit(.minutes(2)))
struct RetryTests {
  private let log = Log()

  @Test("a retry starts with the first interceptor, without a response, and keeps added headers", .rule("pipeline.17"))
  func restart() async {
    let call = TestCall([
      Step { [log] call in
        log.note("first \(call.request.additionalHeaders["n"] ?? "-") \(call.response == nil)")
        call.request.addHeader(name: "n", value: "1")
        let response = HTTPResponse<Anything>(
          response: HTTPURLResponse(url: call.request.graphQLEndpoint, statusCode: 200), rawData: Data(), parsedResponse: nil)
        call.proceed(response)
      },
      Step { [log] call in if log.entries.count == 1 { call.retry() } else { call.proceed() } }, ending(),
    ]).start()
    #expect(await call.results.words(1) == ["end"])
    #expect(log.entries == ["first - true", "first 1 true"])
  }

  @Test(
    "a late proceed of a pass that was retried changes nothing and is counted, and so does a second retry", .rule("pipeline.18"))
  func latePass() async {
    nonisolated(unsafe) var kept: [StepCall] = []
    let call = TestCall([
      Step {
        unsafe kept.append($0)
        if unsafe kept.count == 1 { $0.retry() } else { $0.proceed() }
      }, ending(),
    ]).start()
    #expect(await call.results.words(1) == ["end"])
    unsafe kept[0].proceed()
    unsafe kept[0].retry()
    unsafe kept[0].give("late")
    await call.settle()
    #expect(call.results.words == ["end"])
    #expect(unsafe kept.count == 2)
    #expect(call.chain.ignoredCalls == 3)
  }

  @Test("of two retries of one pass on two threads one counts", .rule("pipeline.18"))
  func twoRetries() async {
    nonisolated(unsafe) var kept: [StepCall] = []
    let passes = Atomic<Int>(0)
    let call = TestCall([
      Step {
        passes.add(1, ordering: .relaxed)
        unsafe kept.append($0)
      }
    ]).start()
    let first = unsafe Sent(kept[0])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { first.value.retry() } }
    }
    #expect(passes.load(ordering: .relaxed) == 2)
    withExtendedLifetime(call) { unsafe kept = [] }
  }

  @Test("fifteen blind retries reach the sixteenth pass and then MaxRetryInterceptor's error", .rule("pipeline.20"))
  func maximum() async throws {
    let call = TestCall([
      MaxRetryInterceptor(maxRetriesAllowed: 15),
      Step { [log] call in
        log.note("pass")
        call.retry()
      },
    ]).start()
    _ = await call.results.words(1)
    #expect(log.entries.count == 16)
    guard case .failure(MaxRetryInterceptor.RetryError.hitMaxRetryCount(15, "Test")) = try #require(call.results.all.first) else {
      return #expect(Bool(false), "\(call.results.words)")
    }
  }

  @Test("backoff waits base, twice, four times, and never longer than the maximum", .rule("pipeline.20"))
  func backoff() {
    let configuration = MaxRetryInterceptor.Configuration(
      baseDelay: 0.5, multiplier: 2, maxDelay: 3, enableExponentialBackoff: true, enableJitter: false)
    #expect((1...5).map(configuration.delay) == [0.5, 1, 2, 3, 3])
  }

  @Test("a delayed retry comes", .rule("pipeline.20"))
  func delayed() async {
    let configuration = MaxRetryInterceptor.Configuration(
      maxRetries: 1, baseDelay: 0.001, enableExponentialBackoff: true, enableJitter: false)
    let call = TestCall([
      MaxRetryInterceptor(configuration: configuration),
      Step { [log] call in
        log.note("pass")
        if log.entries.count == 1 { call.retry() } else { call.give("second") }
      },
    ]).start()
    #expect(await call.results.words(1) == ["second"])
  }

  @Test(
    "cancelling ends the delay of a retry, and frees the chain", .rule("pipeline.20", "pipeline.32"),
    arguments: [3600, 1e300, .infinity])
  func cancelledDelay(delay: Double) async {
    weak var chain: InterceptorRequestChain?
    weak var step: Step?
    do {
      let configuration = MaxRetryInterceptor.Configuration(
        baseDelay: delay, maxDelay: delay, enableExponentialBackoff: true, enableJitter: false)
      let made = Step { [log] call in
        log.note("pass")
        call.retry()
      }
      let call = TestCall([MaxRetryInterceptor(configuration: configuration), made]).start()
      (chain, step) = (call.chain, made)
      #expect(log.entries == ["pass"])
      call.chain.cancel()
      await call.settle()
      #expect(call.results.all.isEmpty)
    }
    #expect(await eventually { chain == nil && step == nil })
    #expect(log.entries == ["pass"])
  }

  @Test("without MaxRetryInterceptor the chain stops after its number of attempts", .rule("pipeline.21"))
  func ceiling() async throws {
    let call = TestCall([
      Step { [log] call in
        log.note("pass")
        call.retry()
      }
    ]).start()
    _ = await call.results.words(1)
    #expect(log.entries.count == 100)
    guard case .failure(InterceptorRequestChain.ChainError.retryLimit(100)) = try #require(call.results.all.first) else {
      return #expect(Bool(false), "\(call.results.words)")
    }
  }

  @Test("an error interceptor that retries for ever gets no further than the ceiling", .rule("pipeline.21", "pipeline.24"))
  func errorInterceptorRetries() async {
    let call = TestCall(
      [Step { $0.fail(Fault("always")) }], errors: ErrorStep { _, call in call.retry() }, configure: { $0.maximumAttempts = 5 }
    ).start()
    #expect(await call.results.words(1).first?.hasPrefix("the request was started 5 times") == true)
  }

  @Test("ten thousand synchronous retries need no more stack than one", .rule("pipeline.22"))
  func stack() async {
    let passes = Atomic<Int>(0)
    let call = await onSmallStack {
      TestCall(
        [
          Step { call in
            if passes.add(1, ordering: .relaxed).newValue < 10_000 { call.retry() } else { call.give("done") }
          }
        ], configure: { $0.maximumAttempts = 20_000 }
      ).start()
    }
    #expect(await call.value.results.words(1) == ["done"])
    #expect(passes.load(ordering: .relaxed) == 10_000)
  }

  @Test("a retry after cancelling does nothing; from a completion handler it works", .rule("pipeline.23"))
  func fromOutside() async {
    let call = TestCall([ending()]).start()
    _ = await call.results.words(1)
    call.chain.retry(request: call.request) { [results = call.results] in results.add($0) }
    #expect(await call.results.words(2) == ["end", "end"])
    call.chain.cancel()
    call.chain.retry(request: call.request) { [results = call.results] in results.add($0) }
    await call.settle()
    #expect(call.results.all.count == 2)
  }
}

@Suite("The additional error interceptor", .timeLimit(.minutes(2)))
struct ErrorInterceptorTests {
  private let log = Log()

  @Test("it sees each error of the chain once, before the caller", .rule("pipeline.24"))
  func sees() async {
    let errors = ErrorStep { [log] error, call in
      log.note("\(error)")
      call.completion(.failure(error))
    }
    let reported = TestCall([Step { $0.fail(Fault("fault")) }], errors: errors).start()
    #expect(await reported.results.words(1) == ["fault"] && log.entries == ["fault"])
    let dropped = TestCall([Step { _ in }], errors: errors).start()
    let words = await dropped.results.words(1)
    #expect(words.first?.hasPrefix("Step ended") == true && log.entries == ["fault"] + words)
  }

  @Test("its completion delivers another error, or a value, as often as it is called", .rule("pipeline.25"))
  func replaces() async {
    let call = TestCall(
      [Step { $0.fail(Fault("fault")) }],
      errors: ErrorStep { error, call in
        call.completion(.failure(Fault("another")))
        call.completion(.success(.text("value")))
      }
    ).start()
    #expect(await call.results.words(2) == ["another", "value"])
  }

  @Test("it may change the request and retry; its completion is ignored then", .rule("pipeline.26"))
  func retries() async {
    let call = TestCall(
      [
        Step { if $0.request.cachePolicy == .returnCacheDataDontFetch { $0.proceed() } else { $0.fail(Fault("401")) } }, ending(),
      ],
      errors: ErrorStep { error, call in
        call.request.cachePolicy = .returnCacheDataDontFetch
        call.retry()
        call.completion(.failure(error))
      }
    ).start()
    #expect(await call.results.words(1) == ["end"])
    await call.settle()
    #expect(call.results.all.count == 1)
  }

  @Test("an error that it reports goes straight to the caller, and it cannot proceed", .rule("pipeline.27"))
  func inside() async {
    let call = TestCall(
      [Step { $0.fail(Fault("fault")) }],
      errors: ErrorStep { [log] error, call in
        log.note("\(error)")
        call.fail(Fault("inner"))
        call.proceed()
      }
    ).start()
    let words = await call.results.words(2)
    #expect(words.first == "inner" && words.last?.contains("no interceptor with the id ErrorStep") == true)
    #expect(log.entries == ["fault"])
  }

  @Test("if it does nothing, the caller gets the error", .rule("pipeline.28"))
  func silent() async {
    let call = TestCall([Step { $0.fail(Fault("fault")) }], errors: ErrorStep { _, _ in }).start()
    #expect(await call.results.words(1) == ["fault"])
  }

  @Test("cancelling reaches it too", .rule("pipeline.29"))
  func cancelled() async {
    nonisolated(unsafe) var kept: StepCall?
    let errors = ErrorStep { _, _ in }
    let call = TestCall([Step { unsafe kept = $0 }], errors: errors).start()
    call.chain.cancel()
    #expect(errors.cancelCount == 1)
    unsafe withExtendedLifetime(kept) {}
  }
}
