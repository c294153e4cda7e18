import CarabinerConnect
import Dispatch
import FoundationEssentials
import Glibc
import ScriptedServer
import SwiftProtobuf
import TestTools
import Testing

@Suite("Threads of a call", .timeLimit(.minutes(2)))
struct CallerTests {
  @Test("factories run in their order before the call returns", .rule("connect.6"))
  func factories() async throws {
    let made = Journal()
    let interceptors = ["A", "B"].map { name in
      InterceptorFactory { _ in
        made.add("\(name) \(pthread_self())")
        return UnaryStep()
      }
    }
    let service = try Service(interceptors)
    /// Makes a call without suspending, so that the thread stays the same.
    func call() -> [String] {
      let here = pthread_self()
      service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
        (_: ResponseMessage<Text>) in
      }
      return ["A \(here)", "B \(here)"]
    }
    let expected = call()
    #expect(made.lines == expected)
  }

  @Test("a retry of a plugin uses the same interceptors, and does not pass them again", .rule("connect.6"))
  func pluginRetry() async throws {
    let journal = Journal()
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        journal.add("server")
        try peer.text("world")
      })
    let interceptor = InterceptorFactory { _ in
      journal.add("made")
      return UnaryStep("A", journal)
    }
    let client = try Stages([RetryOnce()]).client(server.origin, interceptors: [interceptor])
    #expect(await client.call().word == "world")
    #expect(await eventually { journal.lines.count == 8 })
    #expect(
      journal.lines == [
        "made", "request A", "raw request A", "server", "server", "raw response A", "response A", "metrics A",
      ])
  }

  @Test(
    "a hook may block, make another call, and cancel its own call, from inside", .rule("connect.14"), arguments: [true, false])
  func blockingHook(cancels: Bool) async throws {
    let service = try Service()
    let (cancelable, outcomes) = (Shared<Cancelable?>(nil), Journal())
    let hook: @Sendable () -> Void = {
      let answer = DispatchSemaphore(value: 0)
      service.client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("inner"), headers: [:]) {
        (response: ResponseMessage<Text>) in
        outcomes.add("inner \(response.word)")
        answer.signal()
      }
      answer.wait()
      if cancels { cancelable.value?.cancel() }
    }
    let client = ProtocolClient(
      config: ProtocolClientConfig(
        host: service.server.origin,
        interceptors: [
          InterceptorFactory { _ in
            UnaryStep(
              request: { request, proceed in
                _ = waitUntil { cancelable.value != nil }
                hook()
                proceed(.success(request))
              },
              response: { response, proceed in
                hook()
                proceed(response)
              })
          }
        ]))
    cancelable.value = client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
      (response: ResponseMessage<Text>) in outcomes.add("outer \(response.word)")
    }
    let expected =
      cancels ? ["inner world", "outer canceled request canceled by client"] : ["inner world", "inner world", "outer world"]
    #expect(await eventually { outcomes.lines == expected }, "\(outcomes.lines)")
  }

  @Test(
    "a completion runs once, and not on the thread that makes the call", .rule("connect.22"),
    arguments: [("no url", nil), ("http://127.0.0.1:1", 0)] as [(String, TimeInterval?)])
  func completion(host: String, timeout: TimeInterval?) async {
    let client = ProtocolClient(config: ProtocolClientConfig(host: host, timeout: timeout))
    let threads = Shared<[pthread_t]>([])
    /// Makes a call that fails at once, and keeps the thread until the completion has run.
    func call() -> pthread_t {
      let isOver = DispatchSemaphore(value: 0)
      let call = client.unary(path: Service.path, idempotencyLevel: .unknown, request: Text("hello"), headers: [:]) {
        (_: ResponseMessage<Text>) in
        threads.change { $0.append(pthread_self()) }
        isOver.signal()
      }
      isOver.wait()
      call.cancel()
      return pthread_self()
    }
    let here = call()
    _ = await client.call()
    #expect(threads.value.count == 1 && threads.value.first != here)
  }
}

/// Waits on this thread until a condition is true, with a generous limit.
private func waitUntil(_ condition: () -> Bool) -> Bool {
  for _ in 0..<60_000 {
    if condition() { return true }
    usleep(1000)
  }
  return false
}
