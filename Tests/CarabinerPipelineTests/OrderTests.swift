import CarabinerPipeline
import Dispatch
import Foundation
import TestTools
import Testing

@Suite("The order of a chain", .timeLimit(.minutes(2)))
struct OrderTests {
  private let log = Log()

  private func passing(_ name: String) -> Step {
    Step { [log] call in
      log.note(name)
      call.proceed()
    }
  }

  @Test("interceptors run in list order, and the first one before the start returns", .rule("pipeline.2"))
  func order() async {
    let call = TestCall([passing("1"), passing("2"), passing("3"), ending()])
    call.start()
    #expect(log.entries == ["1", "2", "3"])
    #expect(await call.results.words(1) == ["end"])
  }

  @Test("the objects that one interceptor passes on are those of the next, and changes stay", .rule("pipeline.3"))
  func objects() async {
    let call = TestCall([
      Step {
        $0.request.addHeader(name: "x-a", value: "1")
        $0.proceed()
      },
      Step { [log] call in
        log.note(call.request.additionalHeaders["x-a"] ?? "")
        call.proceed()
      }, ending(),
    ])
    call.start()
    #expect(log.entries == ["1"])
  }

  @Test(
    "the short proceedAsync of the first interceptor continues with the second while a second result is on its way",
    .rule("pipeline.4"))
  func place() async {
    let call = TestCall([
      Step {
        $0.proceed()
        $0.proceed()
      }, passing("2"), passing("3"), ending(),
    ])
    call.start()
    #expect(log.entries == ["2", "3", "2", "3"])
    #expect(await call.results.words(2) == ["end", "end"])
  }

  @Test("proceeding after an interceptor goes on after the one with its id; an unknown id is an error", .rule("pipeline.5"))
  func byIdentifier() async {
    let second = passing("2")
    let call = TestCall([
      Step { $0.chain.proceedAsync(request: $0.request, response: nil, interceptor: second, completion: $0.completion) }, second,
      passing("3"), ending(),
    ]).start()
    #expect(await call.results.words(1) == ["end"] && log.entries == ["3"])
    let foreign = passing("foreign")
    let lost = TestCall([
      Step { $0.chain.proceedAsync(request: $0.request, response: nil, interceptor: foreign, completion: $0.completion) }
    ]).start()
    #expect(await lost.results.words(1).first?.contains("no interceptor with the id") == true)
  }

  @Test(
    "values of one type have one id, and then a chain goes on after the place it was used at; instances differ",
    .rule("pipeline.5", "pipeline.6"))
  func identifiers() async {
    let (one, two) = (ValueStep { $0.proceed() }, ValueStep { _ in })
    #expect(one.id == two.id)
    #expect(passing("a").id != passing("b").id)
    let call = TestCall([
      ValueStep { call in
        call.chain.proceedAsync(request: call.request, response: nil, interceptor: one, completion: call.completion)
      }, one, passing("3"), ending(),
    ]).start()
    #expect(await call.results.words(1) == ["end"] && log.entries == ["3"])
  }

  @Test("an empty list is one error, which the additional error interceptor sees", .rule("pipeline.7"))
  func empty() async {
    let call = TestCall(
      [],
      errors: ErrorStep { [log] error, call in
        log.note("\(error)")
        call.completion(.failure(error))
      }
    ).start()
    let words = await call.results.words(1)
    #expect(words == ["\(InterceptorRequestChain.ChainError.noInterceptors)"] && log.entries == words)
  }

  @Test("after the last interceptor without a parsed response is an error with the number of interceptors", .rule("pipeline.8"))
  func noResponse() async throws {
    let call = TestCall([passing("1"), passing("2")]).start()
    _ = await call.results.words(1)
    guard case .failure(let error as InterceptorRequestChain.ChainError) = try #require(call.results.all.first),
      case .invalidIndex(_, 2) = error
    else { return #expect(Bool(false), "\(call.results.words)") }
  }

  @Test("one list of interceptors serves many requests at once, each with its own count of retries", .rule("pipeline.9"))
  func sharedList() async {
    let shared: [any ApolloInterceptor] = [
      MaxRetryInterceptor(maxRetriesAllowed: 2),
      Step {
        $0.request.additionalHeaders["n", default: ""] += "x"
        $0.retry()
      },
    ]
    let calls = (0..<8).map { _ in TestCall(shared) }
    await withTaskGroup(of: Void.self) { group in
      for call in calls.map(Sent.init) { group.addTask { call.value.start() } }
    }
    for call in calls {
      #expect(await call.results.words(1).first?.contains("2 times") == true)
      #expect(call.request.additionalHeaders["n"] == "xxx")
    }
  }

  // MARK: Values and errors

  @Test("an error reported before proceeding is followed by the result", .rule("pipeline.10"))
  func errorThenResult() async {
    let call = TestCall([
      Step {
        $0.fail(Fault("early"))
        $0.proceed()
      }, ending(),
    ]).start()
    #expect(await call.results.words(2) == ["early", "end"])
  }

  @Test("value, error and value arrive in this order", .rule("pipeline.10", "pipeline.13"))
  func valueErrorValue() async {
    let call = TestCall([
      Step {
        $0.give("1")
        $0.fail(Fault("2"))
        $0.give("3")
        $0.proceed()
      }, ending("4"),
    ]).start()
    #expect(await call.results.words(4) == ["1", "2", "3", "4"])
  }

  @Test(
    "a completion wrapped by an interceptor sees the result before the caller does, on the callback queue", .rule("pipeline.11"))
  func wrapped() async {
    let call = TestCall([
      Step { [log] call in
        call.chain.proceedAsync(request: call.request, response: nil) { result in
          log.note("wrapper")
          call.completion(result.map { _ in .text("changed") })
        }
      }, ending(),
    ]).start()
    #expect(await call.results.words(1) == ["changed"] && log.entries == ["wrapper"])
  }

  @Test(
    "calling the completion directly delivers a value, and an error that skips the additional error interceptor",
    .rule("pipeline.12"))
  func direct() async {
    let call = TestCall(
      [
        Step {
          $0.completion(.success(.text("value")))
          $0.completion(.failure(Fault("direct")))
        }
      ], errors: ErrorStep { [log] _, _ in log.note("seen") }
    ).start()
    #expect(await call.results.words(2) == ["value", "direct"] && log.entries.isEmpty)
  }

  @Test(
    "a cached value and one from the server arrive in that order on a concurrent queue, a thousand times", .rule("pipeline.13"))
  func concurrentQueue() async {
    // Each wait may take long beside other tests.
    for _ in 0..<10 {
      let calls = (0..<100).map { _ in
        TestCall(
          [
            Step {
              $0.give("cache")
              $0.proceed()
            }, ending("server"),
          ], queue: .global()
        ).start()
      }
      for call in calls {
        guard await call.results.words(2) == ["cache", "server"] else { return #expect(Bool(false), "\(call.results.words)") }
      }
    }
  }

  @Test("an interceptor that drops its closures gives an error with its name, once", .rule("pipeline.14"))
  func abandoned() async {
    let call = TestCall([passing("1"), Step { _ in }, ending()]).start()
    #expect(await call.results.words(1).first?.hasPrefix("Step ended without a call") == true)
    await call.settle()
    #expect(call.results.all.count == 1)
  }

  @Test("an interceptor that drops its closures later gives the error then", .rule("pipeline.14"))
  func abandonedLater() async {
    nonisolated(unsafe) var kept: StepCall?
    let call = TestCall([Step { unsafe kept = $0 }]).start()
    await call.settle()
    #expect(call.results.all.isEmpty)
    unsafe withExtendedLifetime(kept) {}
    unsafe kept = nil
    #expect(await call.results.words(1).first?.hasPrefix("Step ended") == true)
  }

  @Test("a dropped completion is nothing to report while the chain is kept", .rule("pipeline.14"))
  func keptChain() async {
    nonisolated(unsafe) var kept: (any RequestChain)?
    let call = TestCall([Step { unsafe kept = $0.chain }]).start()
    await call.settle()
    #expect(call.results.all.isEmpty)
    unsafe kept?.returnValueAsync(for: call.request, value: .text("late")) { [results = call.results] in results.add($0) }
    #expect(await call.results.words(1) == ["late"])
  }

  // MARK: Bad input

  @Test("a thousand proceeds from one place are a thousand results", .rule("pipeline.4"))
  func manyProceeds() async {
    let call = TestCall([Step { call in for _ in 0..<1000 { call.proceed() } }, ending()]).start()
    #expect(await call.results.words(1000).count == 1000)
  }

  @Test("ten thousand interceptors need no deep stack, on the way down and up, and when they are released", .rule("pipeline.2"))
  func longList() async {
    let list = (0..<10_000).map { _ in ValueStep { $0.proceed() } as any ApolloInterceptor } + [ending()]
    let words = await onSmallStack { TestCall(list).start() }
    #expect(await words.value.results.words(1) == ["end"])
  }

  @Test("a chain value that is used after its chain was freed changes nothing", .rule("pipeline.32"))
  func foreignChain() async {
    nonisolated(unsafe) var kept: StepCall?
    let first = TestCall([
      Step {
        unsafe kept = $0
        $0.give("first")
      }
    ]).start()
    _ = await first.results.words(1)
    let call = TestCall([
      Step { call in
        unsafe kept?.give("other")
        call.proceed()
      }, ending(),
    ]).start()
    #expect(await call.results.words(1) == ["end"])
    #expect(await first.results.words(2) == ["first", "other"])
  }
}

/// A value for another thread.
struct Sent<Value>: @unchecked Sendable {
  // The test uses it on one thread at a time.
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Runs `body` on a thread with a stack of 512 KiB.
func onSmallStack<Value>(_ body: @escaping () -> Value) async -> Sent<Value> {
  let body = Sent(body)
  return await withCheckedContinuation { done in
    let thread = Thread { done.resume(returning: Sent(body.value())) }
    thread.stackSize = 512 << 10
    thread.start()
  }
}
