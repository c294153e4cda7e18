import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import Synchronization
import TestTools
import Testing

@Suite("Awaiting the results of a 1.x client", .timeLimit(.minutes(2)))
struct AsyncTests {
  @Test("a query and a mutation are awaited, and an error is thrown", .rule("pipeline.34"))
  func values() async throws {
    let service = try Service { request, peer in
      try peer.json(
        request.header("X-APOLLO-OPERATION-NAME") == "Rename"
          ? #"{"data":{"rename":{"__typename":"Droid","id":"1","name":"C3"}}}"# : heroJSON)
    }
    let client = service.client
    #expect(try await client.fetch(query: HeroQuery()).data?.hero.name == "R2")
    #expect(try await client.perform(mutation: Rename()).data?.rename.name == "C3")
    service.provider.first = [LoginInterceptor(login: Login(token: nil))]
    await #expect(throws: LoginInterceptor.LoginError.self) { try await client.fetch(query: HeroQuery()) }
  }

  @Test("a query that is awaited goes on to its end after its first result", .rule("pipeline.34"))
  func rest() async throws {
    let count = Atomic<Int>(1)
    let service = try Service { _, peer in
      let number = count.add(1, ordering: .relaxed).newValue
      try peer.json(#"{"data":{"hero":{"__typename":"Droid","id":"1","name":"R\#(number)"}}}"#)
    }
    let client = service.client
    #expect(try await client.fetch(query: HeroQuery()).data?.hero.name == "R2")
    let cached = try await client.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataAndFetch)
    #expect(cached.source == .cache && cached.data?.hero.name == "R2")
    #expect(
      await eventually {
        try await client.fetch(query: HeroQuery(), cachePolicy: .returnCacheDataDontFetch).data?.hero.name == "R3"
      })
  }

  @Test("the results of a subscription are a stream, which ends with it", .rule("pipeline.34"))
  func stream() async throws {
    let service = try Service { _, peer in
      try peer.sendParts("multipart/mixed;boundary=\"-\";subscriptionSpec=1.0")
      for count in 1...3 { try peer.sendPart(#"{"payload":{"data":{"count":\#(count)}}}"#) }
      try peer.send("\r\n-----\r\n")
    }
    var counts: [Int?] = []
    for try await result in service.client.results(of: Count()) { counts.append(result.data?.count) }
    #expect(counts == [1, 2, 3])
  }

  @Test("cancelling the task cancels the chain, and is thrown", .rule("pipeline.34"))
  func cancelled() async throws {
    let server = try ScriptedServer { peer in
      _ = try peer.request()
      peer.waitForHangUp()
    }
    let client = Sent(ApolloClient(url: try #require(URL(string: server.origin))))
    let task = Task { try await client.value.fetch(query: HeroQuery()).data?.hero.name }
    #expect(await eventually { server.requests.count == 1 })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await eventually { server.hangUps == 1 })
    let reader = Task { for try await _ in client.value.results(of: HeroQuery()) {} }
    #expect(await eventually { server.requests.count == 2 })
    reader.cancel()
    #expect(await eventually { server.hangUps == 2 })
  }
}
