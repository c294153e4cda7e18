import CarabinerPipeline
import Dispatch
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Late calls and odd answers in a chain of this generation", .timeLimit(.minutes(2)))
struct LateInputTests {
  @Test(
    "a status outside 200 to 299 is one error, whatever the body", .rule("pipeline.53"),
    arguments: ["101 Switching Protocols", "199 Odd", "300 Choices", "304 Not Modified", "599 Odd", "600 Odd", "999 Odd"])
  func statuses(_ status: String) async throws {
    let service = try Service { _, peer in
      try peer.json(heroJSON, status: status, headers: "Connection: close\r\n")
      peer.close()
    }
    let words = await service.fetch()
    await service.settle()
    #expect(words.count == 1 && !words[0].hasPrefix("server") && service.server.requests.count == 1, "\(words)")
  }

  @Test("the status 299 is a success", .rule("pipeline.53"))
  func oddSuccess() async throws {
    let service = try Service { _, peer in try peer.json(heroJSON, status: "299 Odd") }
    #expect(await service.fetch() == ["server R2"])
  }

  @Test(
    "an interceptor that proceeds after its client, transport and provider were released sends the request",
    .rule("pipeline.32", "pipeline.57"))
  func lateProceed() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(#"{"data":{"a":"late"}}"#) })
    let results = Results<JSONValue>()
    nonisolated(unsafe) var kept: StepCall?
    weak var step: Step?
    do {
      let provider = TestProvider(store: ApolloStore())
      let made = Step { unsafe kept = $0 }
      (provider.first, step) = ([made], made)
      let transport = RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: try #require(URL(string: server.origin)))
      _ = transport.send(operation: Anything(), cachePolicy: .fetchIgnoringCacheData, callbackQueue: .global()) {
        results.add($0)
      }
    }
    #expect(step != nil && server.connections == 0)
    unsafe kept?.proceed()
    #expect(await eventually { results.all.count == 1 })
    #expect(try results.all.first?.get().data?["a"]?.string == "late")
    unsafe kept = nil
    #expect(await eventually { step == nil })
  }

  @Test("calls of an interceptor long after the cancellation send nothing and deliver nothing", .rule("pipeline.31"))
  func lateAfterCancel() async throws {
    let service = try Service()
    nonisolated(unsafe) var kept: StepCall?
    service.provider.first = [Step { unsafe kept = $0 }]
    let results = Results<JSONValue>()
    let call = service.transport.send(
      operation: Anything(), cachePolicy: .fetchIgnoringCacheData, callbackQueue: service.queue
    ) { results.add($0) }
    call.cancel()
    await service.settle()
    unsafe kept?.proceed()
    unsafe kept?.retry()
    unsafe kept?.give("late")
    unsafe kept?.fail(Fault("late"))
    await service.settle()
    #expect(results.all.isEmpty && service.server.connections == 0)
    unsafe kept = nil
  }

  @Test(
    "while a queue is not served, a subscription holds one result back, and the others wait in the transfer", .rule("pipeline.16")
  )
  func unserved() async throws {
    let (sent, log, results) = (Counter(), Log(), Results<Count.Data>())
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      for count in 1...20 {
        try peer.sendPart(#"{"payload":{"data":{"count":\#(count)}}}"#)
        sent.next()
      }
      try peer.send("\r\n-----\r\n")
    }
    service.provider.last = [Noting(log: log)]
    let queue = DispatchQueue(label: "unserved", attributes: .initiallyInactive)
    let call = service.client.subscribe(subscription: Count(), queue: queue) { results.add($0) }
    #expect(await eventually { sent.value == 20 && !log.entries.isEmpty })
    #expect(results.all.isEmpty && log.entries.count == 1)
    queue.activate()
    #expect(await eventually { results.all.count == 20 })
    #expect(results.all.compactMap { try? $0.get().data?.count } == Array(1...20))
    withExtendedLifetime(call) {}
  }
}
