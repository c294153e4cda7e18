import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Callbacks and late answers of HTTPNetworkTransport", .timeLimit(.minutes(2)))
struct DelegateCallbackTests {
  @Test("a cached value and one from the server arrive in this order on a concurrent queue, asynchronously")
  func order() async throws {
    let service = try DelegateService()
    #expect(await service.fetch() == ["server R2"])
    for _ in 0..<50 {
      let results = Results<HeroQuery.Data>()
      service.client.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataAndFetch, queue: .global()) { results.add($0) }
      #expect(await eventually { results.all.count == 2 })
      #expect(results.outcomes == ["cache R2", "server R2"])
    }
    let (queue, results) = (DispatchQueue(label: "serial"), Results<HeroQuery.Data>())
    let client = Kept(service.client)
    let before = await withCheckedContinuation { done in
      queue.async {
        client.value.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataDontFetch, queue: queue) { results.add($0) }
        done.resume(returning: results.all.count)
      }
    }
    #expect(before == 0)
    #expect(await eventually { results.outcomes == ["cache R2"] })
  }

  @Test("a result that is queued when its call is cancelled is not delivered, only the cancellation is", .rule("delegate.14"))
  func queued() async throws {
    let queue = DispatchQueue(label: "blocked")
    let gate = DispatchSemaphore(value: 0)
    let service = try DelegateService()
    #expect(await service.fetch() == ["server R2"])
    queue.async { gate.wait() }
    let results = Results<HeroQuery.Data>()
    let call = service.client.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataAndFetch, queue: queue) { results.add($0) }
    #expect(await eventually { service.recorder.log.entries.filter { $0.hasPrefix("raw") }.count == 2 })
    call.cancel()
    gate.signal()
    #expect(await eventually { results.all.count == 1 })
    for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
    #expect(results.outcomes == ["\(CancellationError())"])
  }

  @Test("a callback may cancel its call, remove the delegate and use the client again")
  func fromCallback() async throws {
    let service = try DelegateService()
    let results = Results<HeroQuery.Data>()
    let call = Mutex<Kept<any Cancellable>?>(nil)
    let (client, transport, queue) = (Kept(service.client), service.transport, service.queue)
    let started = DispatchSemaphore(value: 0)
    let first = client.value.fetch(query: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, queue: queue) { result in
      started.wait()
      results.add(result)
      call.withLock { $0 }?.value.cancel()
      transport.delegate = nil
      client.value.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataDontFetch, queue: queue) { results.add($0) }
    }
    call.withLock { $0 = Kept(first) }
    started.signal()
    #expect(await eventually { results.all.count == 2 })
    await service.settle()
    #expect(results.outcomes == ["server R2", "cache R2"] && transport.delegate == nil)
    call.withLock { $0 = nil }
  }

  @Test(
    "an answer after client and transport were released completes the request, and a second one does nothing",
    .rule("delegate.11", "delegate.15"))
  func lateAnswer() async throws {
    let (counter, results) = (Counter(), Results<HeroQuery.Data>())
    let answer = Mutex<(@Sendable (Bool) -> Void)?>(nil)
    let server = try ScriptedServer(
      ScriptedServer.answering { _, peer in
        if counter.next() == 1 { return try peer.json("", status: "503 Down") }
        try peer.json(heroJSON)
      })
    weak var transport: HTTPNetworkTransport?
    do {
      let recorder = Recorder()
      recorder.retry = { _, _, _, handler in
        let kept = Kept(handler)
        answer.withLock { $0 = { kept.value($0) } }
      }
      let made = HTTPNetworkTransport(url: try #require(URL(string: server.origin)), delegate: recorder)
      transport = made
      ApolloClient(networkTransport: made).fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
    }
    #expect(await eventually { answer.withLock { $0 != nil } })
    #expect(transport != nil && results.all.isEmpty)
    let late = answer.withLock { $0 }
    late?(true)
    #expect(await eventually { results.outcomes == ["server R2"] })
    #expect(await eventually { transport == nil })
    late?(true)
    late?(false)
    #expect(results.all.count == 1 && server.requests.count == 2)
  }
}
