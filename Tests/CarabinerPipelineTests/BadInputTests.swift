import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Bad input to a chain of this generation", .timeLimit(.minutes(2)))
struct BadInputTests {
  @Test(
    "an endpoint that is not a URL of HTTP is one error", .rule("pipeline.49"),
    arguments: ["ftp://127.0.0.1/", "file:///etc/hostname", "x:y"])
  func endpoint(url: String) async throws {
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: ApolloStore()), endpointURL: try #require(URL(string: url)))
    let results = Results<HeroQuery.Data>()
    _ = transport.send(operation: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, callbackQueue: .global()) { results.add($0) }
    #expect(await eventually { !results.all.isEmpty })
    #expect(throws: (any Error).self) { try results.all.first?.get() }
    #expect(results.all.count == 1)
  }

  @Test("a file that vanishes between two attempts is an error of the second one", .rule("pipeline.47"))
  func vanishedFile() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "pipeline-\(UUID().uuidString)")
    try Data("contents".utf8).write(to: path)
    let service = try Service { _, peer in
      try? FileManager.default.removeItem(at: path)
      try peer.json("{}", status: "503 Busy")
    }
    service.provider.errors = RetryOnce()
    let file = try GraphQLFile(fieldName: "file", originalName: "a.txt", fileURL: path)
    let results = Results<JSONValue>()
    service.client.upload(operation: Upload(), files: [file], queue: service.queue) { results.add($0) }
    let words = await results.words(1)
    #expect(words.count == 1 && words.first?.contains("status 503") == false, "\(words)")
    #expect(service.server.requests.count == 1)
  }

  @Test("proceeding with the chain value of another request goes on in that request", .rule("pipeline.4"))
  func foreignChainValue() async {
    nonisolated(unsafe) var kept: StepCall?
    let first = TestCall([Step { call in unsafe kept = call }, ending("first")]).start()
    let second = TestCall([
      Step { call in
        unsafe kept?.proceed()
        call.proceed()
      }, ending("second"),
    ]).start()
    #expect(await second.results.words(1) == ["second"])
    #expect(await first.results.words(1) == ["first"])
  }

  @Test(
    "a body in parts that never ends is an error at its limit, and the transfer is aborted", .rule("pipeline.51", "pipeline.53"),
    arguments: [("200 OK", "partTooLarge"), ("500 Fault", "bodyTooLarge")])
  func endlessPart(status: String, error: String) async throws {
    let limits = PartLimits(maximumPartBytes: 100_000, maximumMergedBytes: 100_000)
    let service = try Service(client: URLSessionClient(transport: try Curl(), limits: limits)) { _, peer in
      try peer.send("HTTP/1.1 \(status)\r\nContent-Type: multipart/mixed;boundary=\"-\"\r\nConnection: close\r\n\r\n")
      try peer.sendPart(#"{"data":{"hero":""#)
      while true { try peer.send(String(repeating: "x", count: 10_000)) }
    }
    let words = await service.fetch()
    #expect(words.first?.contains(error) == true, "\(words)")
    #expect(await eventually { service.server.openConnections == 0 })
  }

  @Test(
    "the limits of the core's parser apply to parts, unless the client has limits of its own", .rule("pipeline.61"),
    arguments: [(nil, "partTooLarge"), (PartLimits(), "server R2")] as [(PartLimits?, String)])
  func limitsOfStages(limits: PartLimits?, outcome: String) async throws {
    let stages = LimitedParser(limits: PartLimits(maximumPartBytes: 40))
    for isOfClient in [false, true] {
      let server = try ScriptedServer(
        ScriptedServer.answering { _, peer in
          try peer.sendParts()
          try peer.sendPart(#"{"data":{"hero":{"__typename":"Droid","id":"1","name":"R2"}},"hasNext":false}"#)
          try peer.send("\r\n-----\r\n")
          peer.close()
        })
      let client = URLSessionClient(transport: try Curl(), stages: isOfClient ? stages : nil, limits: limits)
      let store = ApolloStore()
      let provider = DefaultInterceptorProvider(client: client, store: store, stages: isOfClient ? nil : stages)
      let transport = RequestChainNetworkTransport(
        interceptorProvider: provider, endpointURL: try #require(URL(string: server.origin)))
      let results = Results<HeroQuery.Data>()
      _ = transport.send(operation: HeroQuery(), cachePolicy: .fetchIgnoringCacheData, callbackQueue: .global()) {
        results.add($0)
      }
      #expect(await eventually { !results.all.isEmpty })
      switch results.all.first {
      case .success(let value)?: #expect("\(value.source) \(value.data?.hero.name ?? "nil")" == outcome)
      case .failure(let error)?: #expect("\(error)".contains(outcome), "\(error)")
      case nil: break
      }
    }
  }
}
