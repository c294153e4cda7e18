import CarabinerPipeline
import Dispatch
import Foundation
import Synchronization
import TestTools
import Testing

@Suite("Cancelling a chain, and callbacks", .timeLimit(.minutes(2)))
struct CancellationTests {
  private let log = Log()

  @Test("cancelling reaches the interceptors that can be cancelled, once, and no others", .rule("pipeline.30"))
  func reaches() async {
    nonisolated(unsafe) var kept: StepCall?
    let (one, two) = (Step { $0.proceed() }, Step { unsafe kept = $0 })
    let call = TestCall([one, ValueStep { $0.proceed() }, two]).start()
    call.chain.cancel()
    call.chain.cancel()
    #expect(one.cancelCount == 1 && two.cancelCount == 1 && call.chain.isCancelled && !call.chain.isNotCancelled)
    await call.settle()
    #expect(call.results.all.isEmpty)
    unsafe withExtendedLifetime(kept) {}
  }

  @Test(
    "after cancelling, calls of interceptors do nothing", .rule("pipeline.31"), arguments: ["proceed", "retry", "give", "fail"])
  func silent(method: String) async {
    nonisolated(unsafe) var kept: StepCall?
    let call = TestCall([Step { unsafe kept = $0 }, ending()]).start()
    call.chain.cancel()
    switch method {
    case "proceed": unsafe kept?.proceed()
    case "retry": unsafe kept?.retry()
    case "give": unsafe kept?.give("value")
    default: unsafe kept?.fail(Fault("late"))
    }
    await call.settle()
    #expect(call.results.all.isEmpty)
  }

  @Test("cancelled chains report CancellationError once when asked to", .rule("pipeline.31"))
  func reports() async {
    nonisolated(unsafe) var kept: StepCall?
    let call = TestCall([Step { unsafe kept = $0 }], configure: { $0.reportsCancellation = true }).start()
    call.chain.cancel()
    call.chain.cancel()
    #expect(await call.results.words(1) == ["CancellationError()"])
    await call.settle()
    #expect(call.results.all.count == 1)
    unsafe withExtendedLifetime(kept) {}
  }

  @Test("cancelling a chain that is over changes nothing", .rule("pipeline.32"))
  func over() async {
    let step = Step { $0.proceed() }
    let call = TestCall([step, ending()], configure: { $0.reportsCancellation = true }).start()
    #expect(await call.results.words(1) == ["end"])
    #expect(await eventually { call.chain.places == 0 })
    call.chain.cancel()
    await call.settle()
    #expect(call.results.words == ["end"] && step.cancelCount == 0)
  }

  @Test("an interceptor that looks sees the cancellation", .rule("pipeline.33"))
  func seen() async {
    nonisolated(unsafe) var kept: StepCall?
    let call = TestCall([Step { unsafe kept = $0 }]).start()
    #expect(unsafe kept?.chain.isCancelled == false)
    unsafe kept?.chain.cancel()
    #expect(unsafe kept?.chain.isCancelled == true && call.chain.isCancelled)
    unsafe kept = nil
  }

  @Test(
    "a chain, its interceptors and its request are freed", .rule("pipeline.32"),
    arguments: ["success", "failure", "value", "retry", "cancel"])
  func freed(how: String) async {
    weak var chain: InterceptorRequestChain?
    weak var step: Step?
    weak var request: HTTPRequest<Anything>?
    do {
      let retried = Atomic<Bool>(false)
      let made = Step { call in
        switch how {
        case "failure": call.fail(Fault("fault"))
        case "value": call.give("value")
        case "retry": if retried.exchange(true, ordering: .relaxed) { call.proceed() } else { call.retry() }
        default: call.proceed()
        }
      }
      let call = TestCall([made, ending()]).start()
      (chain, step, request) = (call.chain, made, call.request)
      if how == "cancel" { call.chain.cancel() } else { _ = await call.results.words(1) }
    }
    #expect(await eventually { chain == nil && step == nil && request == nil })
  }

  // MARK: Callbacks

  @Test("callbacks are asynchronous, also for a caller on their queue")
  func asynchronous() async {
    let queue = DispatchQueue(label: "serial")
    let call = Sent(TestCall([ending()], queue: queue))
    let before = await withCheckedContinuation { done in
      queue.async {
        call.value.start()
        done.resume(returning: call.value.results.all.count)
      }
    }
    #expect(before == 0)
    #expect(await call.value.results.words(1) == ["end"])
  }

  @Test("a callback queued before cancel does not run after it")
  func queued() async {
    let queue = DispatchQueue(label: "blocked")
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    let call = TestCall([Step { for _ in 0..<3 { $0.give("value") } }], queue: queue).start()
    call.chain.cancel()
    gate.signal()
    await call.settle()
    #expect(call.results.all.isEmpty)
  }

  @Test("the default queue is the main queue, and can be set for the process")
  func defaultQueue() {
    #expect(Callbacks.defaultQueue.label == DispatchQueue.main.label)
    let queue = DispatchQueue(label: "own")
    Callbacks.defaultQueue = queue
    #expect(Callbacks.defaultQueue.label == "own")
    Callbacks.defaultQueue = .main
  }

  @Test("a callback may cancel, retry and start its own chain")
  func fromCallback() async {
    let call = TestCall([ending()])
    let count = Atomic<Int>(0)
    let (chain, request, results) = (call.chain, call.request, call.results)
    func again(_ result: Result<GraphQLResult<JSONValue>, any Error>) {
      results.add(result)
      if count.add(1, ordering: .relaxed).newValue < 3 {
        chain.retry(request: request, completion: again)
      } else {
        chain.cancel()
        chain.retry(request: request, completion: again)
      }
    }
    chain.kickoff(request: request, completion: again)
    #expect(await results.words(3).count == 3)
    await call.settle()
    #expect(results.all.count == 3)
  }

  @TaskLocal private static var caller = "nobody"

  @Test("task-locals of the caller are seen in interceptors and callbacks")
  func taskLocals() async {
    let call = TestCall([
      Step { [log] call in
        log.note("step \(Self.caller)")
        call.proceed()
      }, ending(),
    ])
    Self.$caller.withValue("caller") {
      call.chain.kickoff(request: call.request) { [log] _ in log.note("callback \(Self.caller)") }
    }
    #expect(await eventually { log.entries == ["step caller", "callback caller"] })
  }

  @Test("eight threads use one chain at once, and each result arrives once")
  func threads() async {
    nonisolated(unsafe) var kept: StepCall?
    let call = TestCall([Step { unsafe kept = $0 }, ending()]).start()
    let shared = unsafe Sent(kept)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<50 {
            shared.value?.proceed()
            shared.value?.give("value")
            shared.value?.fail(Fault("fault"))
          }
        }
      }
    }
    let words = await call.results.words(1200)
    #expect(words.count == 1200 && words.count { $0 == "end" } == 400)
    unsafe kept = nil
  }

  @Test("a queue that is not served holds results back and crashes nothing", .rule("pipeline.16"))
  func unserved() async {
    let queue = DispatchQueue(label: "unserved", attributes: .initiallyInactive)
    let call = TestCall([ending()], queue: queue).start()
    #expect(call.results.all.isEmpty)
    queue.activate()
    #expect(await call.results.words(1) == ["end"])
  }
}
