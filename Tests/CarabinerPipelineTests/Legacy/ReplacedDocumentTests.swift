import CarabinerPipeline
import Foundation
import ScriptedServer
import TestTools
import Testing

@Suite("Documents that a stage of the core replaces", .timeLimit(.minutes(2)))
struct ReplacedDocumentTests {
  private struct IdentifiedUpload: IdentifiedOperation, GraphQLMutation {
    typealias Data = JSONValue

    var operationName: String? { "Upload" }
    var document: String { "mutation Upload($file: Upload!) { upload(file: $file) }" }
    var operationIdentifier: String? { "own-2" }
  }

  private static let notFound = #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#
  /// The document that is sent in place of that of the operation.
  private static let other = Anything().document

  private func provider(replacing isReplaced: Bool) -> DefaultInterceptorProvider {
    DefaultInterceptorProvider(
      store: ApolloStore(), stages: Stages(graphQL: isReplaced ? [ReplacingDocument(document: Self.other)] : []))
  }

  /// The requests of an operation of the 1.x generation, to a server that answers the first one with the first answer.
  private func requests<Operation: GraphQLOperation>(
    of operation: Operation, replacing isReplaced: Bool = true, persists: Bool = false, first: String? = nil
  ) async throws -> [ReceivedRequest] {
    let counter = Counter()
    let service = try LegacyService(provider(replacing: isReplaced), persists: persists) { _, peer in
      try peer.json(counter.next() == 1 ? first ?? #"{"data":{"a":1}}"# : #"{"data":{"a":1}}"#)
    }
    _ = try await service.result(of: operation)
    return service.server.requests
  }

  /// The hash that is sent for an operation with the other document.
  private func otherHash() async throws -> String {
    let request = try #require(try await requests(of: Anything(), replacing: false, persists: true).first)
    return try #require(request.sentHash)
  }

  @Test(
    "the identifier of the operation is sent beside its own document, and not beside another one", .rule("legacy.8"),
    arguments: [false, true])
  func identifier(isReplaced: Bool) async throws {
    let request = try #require(try await requests(of: Identified(), replacing: isReplaced).first)
    #expect(request.json?["query"]?.string == (isReplaced ? Self.other : Identified().document))
    #expect(request.json?["id"]?.string == (isReplaced ? nil : "own-1"))
    #expect(request.header("X-APOLLO-OPERATION-ID") == (isReplaced ? nil : "own-1"))
  }

  @Test("a stage that sets the document of the operation itself changes nothing", .rule("legacy.8"))
  func sameDocument() async throws {
    let same = DefaultInterceptorProvider(
      store: ApolloStore(), stages: Stages(graphQL: [ReplacingDocument(document: Identified().document)]))
    let service = try LegacyService(same) { _, peer in try peer.json(#"{"data":{"a":1}}"#) }
    _ = try await service.result(of: Identified())
    #expect(service.server.requests.first?.json?["id"]?.string == "own-1")
  }

  @Test("a persisted query has the hash of the other document, before and with the document", .rule("pipeline.43", "pipeline.61"))
  func hash() async throws {
    let found = try await requests(of: Identified(), persists: true, first: Self.notFound)
    #expect(found.map { $0.json?["query"]?.string } == [nil, Self.other])
    #expect(found.map(\.sentHash) == Array(repeating: try await otherHash(), count: 2))
    #expect(found.allSatisfy { $0.json?["id"] == nil })
  }

  @Test("an upload has the other document, and no identifier", .rule("legacy.8"))
  func upload() async throws {
    let service = try LegacyService(provider(replacing: true)) { _, peer in try peer.json(#"{"data":{"upload":"ok"}}"#) }
    let results = Results<JSONValue>()
    let file = GraphQLFile(fieldName: "file", originalName: "a.txt", data: Data("contents".utf8))
    service.client.upload(operation: IdentifiedUpload(), files: [file], queue: .global()) { results.add($0) }
    _ = await results.words(1)
    let request = try #require(service.server.requests.first)
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(body.contains(Self.other) && body.contains("contents") && !body.contains("own-2"))
    #expect(request.header("X-APOLLO-OPERATION-ID") == nil)
  }

  // MARK: Delegates

  /// The requests of a transport with delegates.
  private func delegated(
    identifiers: Bool = false, persists: Bool = false, first: String? = nil
  ) async throws -> [ReceivedRequest] {
    let counter = Counter()
    let stages = Stages(graphQL: [ReplacingDocument(document: Self.other)])
    let service = try DelegateService(
      answer: { _, peer in try peer.json(counter.next() == 1 ? first ?? #"{"data":{"a":1}}"# : #"{"data":{"a":1}}"#) },
      make: { url, _ in
        HTTPNetworkTransport(
          url: url, sendOperationIdentifiers: identifiers, enableAutoPersistedQueries: persists,
          requestCreator: ApolloRequestCreator(), stages: stages)
      })
    let results = Results<JSONValue>()
    service.client.fetch(query: Identified(), cachePolicy: .fetchIgnoringCacheCompletely, queue: service.queue) {
      results.add($0)
    }
    #expect(await results.words(1).count == 1)
    return service.server.requests
  }

  @Test("an identifier does not take the place of another document", .rule("delegate.17"))
  func delegatedIdentifier() async throws {
    let request = try #require(try await delegated(identifiers: true).first)
    #expect(request.json?["query"]?.string == Self.other && request.json?["id"] == nil)
    #expect(request.header("X-APOLLO-OPERATION-ID") == nil)
  }

  @Test(
    "with a delegate, a persisted query has the hash of the other document, before and with the document", .rule("delegate.20"),
    arguments: [false, true])
  func delegatedHash(identifiers: Bool) async throws {
    let found = try await delegated(identifiers: identifiers, persists: true, first: Self.notFound)
    #expect(found.map { $0.json?["query"]?.string } == [nil, Self.other])
    #expect(found.map(\.sentHash) == Array(repeating: try await otherHash(), count: 2))
    #expect(found.allSatisfy { $0.json?["id"] == nil })
  }
}

extension ReceivedRequest {
  /// The hash of a persisted query in the body; nil for none.
  fileprivate var sentHash: String? { json?["extensions"]?["persistedQuery"]?["sha256Hash"]?.string }
}
