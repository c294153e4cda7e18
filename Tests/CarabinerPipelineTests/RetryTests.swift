import CarabinerPipeline
import Foundation
import Synchronization
import TestTools
import Testing

@Suite("Retries of a chain (SEMANTICS-OLDER J1)", .timeLimit(.minutes(2)))
struct RetryTests {
  private let log = Log()

  @Test("J1.17: a retry starts with the first interceptor, without a response, and keeps added headers")
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

  @Test("J1.18: a late proceed of a pass that was retried changes nothing and is counted, and so does a second retry")
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

  @Test("J1.18: of two retries of one pass on two threads one counts")
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

  @Test("J1.20: fifteen blind retries reach the sixteenth pass and then MaxRetryInterceptor's error")
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

  @Test("J1.20: backoff waits base, twice, four times, and never longer than the maximum")
  func backoff() {
    let configuration = MaxRetryInterceptor.Configuration(
      baseDelay: 0.5, multiplier: 2, maxDelay: 3, enableExponentialBackoff: true, enableJitter: false)
    #expect((1...5).map(configuration.delay) == [0.5, 1, 2, 3, 3])
  }

  @Test("J1.20: a delayed retry comes")
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

  @Test("J1.20, J1.32: cancelling ends the delay of a retry, and frees the chain", arguments: [3600, 1e300, .infinity])
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

  @Test("J1.21, J0.23: without MaxRetryInterceptor the chain stops after its number of attempts")
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

  @Test("J1.21, J1.24: an error interceptor that retries for ever gets no further than the ceiling")
  func errorInterceptorRetries() async {
    let call = TestCall(
      [Step { $0.fail(Fault("always")) }], errors: ErrorStep { _, call in call.retry() }, configure: { $0.maximumAttempts = 5 }
    ).start()
    #expect(await call.results.words(1).first?.hasPrefix("the request was started 5 times") == true)
  }

  @Test("J1.22: ten thousand synchronous retries need no more stack than one")
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

  @Test("J1.23: a retry after cancelling does nothing; from a completion handler it works")
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

@Suite("The additional error interceptor (SEMANTICS-OLDER J1)", .timeLimit(.minutes(2)))
struct ErrorInterceptorTests {
  private let log = Log()

  @Test("J1.24: it sees each error of the chain once, before the caller")
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

  @Test("J1.25: its completion delivers another error, or a value, as often as it is called")
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

  @Test("J1.26: it may change the request and retry; its completion is ignored then")
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

  @Test("J1.27: an error that it reports goes straight to the caller, and it cannot proceed")
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

  @Test("J1.28: if it does nothing, the caller gets the error")
  func silent() async {
    let call = TestCall([Step { $0.fail(Fault("fault")) }], errors: ErrorStep { _, _ in }).start()
    #expect(await call.results.words(1) == ["fault"])
  }

  @Test("J1.29: cancelling reaches it too")
  func cancelled() async {
    nonisolated(unsafe) var kept: StepCall?
    let errors = ErrorStep { _, _ in }
    let call = TestCall([Step { unsafe kept = $0 }], errors: errors).start()
    call.chain.cancel()
    #expect(errors.cancelCount == 1)
    unsafe withExtendedLifetime(kept) {}
  }
}
