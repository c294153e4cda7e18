import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Creators of the 0.3x generation in HTTPNetworkTransport", .timeLimit(.minutes(2)))
struct DelegateCreatorTests {
  /// Notes its arguments, and adds a member to each body.
  private struct NotingCreator: RequestCreator {
    let log: Log

    func requestBody<Operation: GraphQLOperation>(
      for operation: Operation, sendOperationIdentifiers: Bool, sendQueryDocument: Bool, autoPersistQuery: Bool
    ) -> JSONObject {
      log.note("\(sendOperationIdentifiers) \(sendQueryDocument) \(autoPersistQuery)")
      return TenantCreator().requestBody(
        for: operation, sendOperationIdentifiers: sendOperationIdentifiers, sendQueryDocument: sendQueryDocument,
        autoPersistQuery: autoPersistQuery)
    }
  }

  private let log = Log()

  @Test(
    "a creator of the 0.3x generation makes the bodies, over a session and over a client", .rule("delegate.26"),
    arguments: [false, true])
  func bodies(overClient: Bool) async throws {
    let creator = NotingCreator(log: log)
    let service = try DelegateService(make: { url, delegate in
      overClient
        ? HTTPNetworkTransport(url: url, client: URLSessionClient(), delegate: delegate, requestCreator: creator)
        : HTTPNetworkTransport(url: url, delegate: delegate, requestCreator: creator)
    })
    #expect(await service.fetch() == ["server R2"])
    let body = try #require(service.server.requests.first?.json)
    #expect(body["tenant"]?.string == "north" && body["query"]?.string == HeroQuery().document && body["id"] == nil)
    #expect(log.entries == ["false true false"])
  }

  @Test(
    "an identifier is in place of the document, and an operation without one has the hash", .rule("delegate.17", "delegate.26"))
  func identifiers() async throws {
    let creator = NotingCreator(log: log)
    let service = try DelegateService(make: { url, delegate in
      HTTPNetworkTransport(url: url, sendOperationIdentifiers: true, delegate: delegate, requestCreator: creator)
    })
    #expect(await service.fetch() == ["server R2"])
    let results = Results<JSONValue>()
    service.client.fetch(query: Identified(), cachePolicy: .fetchIgnoringCacheCompletely, queue: service.queue) {
      results.add($0)
    }
    #expect(await eventually { results.all.count == 1 })
    let bodies = service.server.requests.compactMap(\.json)
    #expect(bodies.count == 2 && bodies.allSatisfy { $0["query"] == nil && $0["tenant"]?.string == "north" })
    #expect(bodies.first?["id"]?.string?.count == 64 && bodies.last?["id"]?.string == "own-1")
    #expect(log.entries == ["true true false", "true true false"])
  }

  @Test("persisted queries ask the creator for the hash, and then for the document too", .rule("delegate.20", "delegate.26"))
  func persisted() async throws {
    let creator = NotingCreator(log: log)
    let service = try DelegateService(
      answers: [("200 OK", #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)],
      make: { url, _ in HTTPNetworkTransport(url: url, enableAutoPersistedQueries: true, requestCreator: creator) })
    #expect(await service.fetch() == ["server R2"])
    #expect(log.entries == ["false false true", "false true true"])
    #expect(service.server.requests.compactMap(\.json).map { $0["query"] != nil } == [false, true])
  }

  @Test("the creator makes the whole form of an upload, with identifiers too", .rule("delegate.26"), arguments: [false, true])
  func upload(sendsIdentifiers: Bool) async throws {
    let service = try DelegateService(
      answers: [("200 OK", #"{"data":{"upload":"ok"}}"#)],
      make: { url, delegate in
        HTTPNetworkTransport(
          url: url, sendOperationIdentifiers: sendsIdentifiers, delegate: delegate,
          requestCreator: LegacyProviderTests.PartCreator())
      })
    let results = Results<JSONValue>()
    let file = GraphQLFile(fieldName: "file", originalName: "a.txt", data: Data("contents".utf8))
    service.client.upload(operation: Upload(), files: [file], queue: service.queue) { results.add($0) }
    #expect(await eventually { results.all.count == 1 })
    let request = try #require(service.server.requests.first)
    #expect(request.header("Content-Type") == "multipart/form-data; boundary=B")
    let parts = String(decoding: request.body, as: UTF8.self).components(separatedBy: "--B")
    try #require(parts.count == 6, "\(parts)")
    #expect(parts[1].contains("mutation Upload") && parts[4].hasSuffix("\r\n\r\nnorth\r\n"))
  }
}
