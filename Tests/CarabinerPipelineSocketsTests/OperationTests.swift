import CarabinerPipeline
import CarabinerPipelineSockets
import Dispatch
import Foundation
import ScriptedServer
import ScriptedSocket
import TestTools
import Testing

@Suite("Operations of a WebSocketTransport of 0.3x", .timeLimit(.minutes(2)))
struct OperationTests {
  private let journal = Journal()

  @Test("uploads are refused, because the transport has none", .rule("legacy.10"))
  func uploads() async throws {
    let server = try ScriptedServer.sockets { _ in }
    let client = ApolloClient(networkTransport: WebSocketTransport.to(server))
    let call = Call()
    client.upload(operation: CountMutation(), files: [], queue: .global()) { call.add($0) }
    #expect(await call.words(1).first?.contains("cannot upload files") == true)
  }

  @Test(
    "an operation is sent as the body creator makes it, with its identifier if that is wanted", .rule("legacy.13"),
    arguments: [true, false])
  func body(sendsIdentifiers: Bool) async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      journal.note(try socket.message()?["payload"]?.description ?? "")
      try socket.readToEnd()
    }
    let transport = WebSocketTransport(
      request: URLRequest(url: server.socketURL), sendOperationIdentifiers: sendsIdentifiers, requestBodyCreator: TenantBody())
    _ = transport.start(Identified())
    let payload = try JSONValue(parsing: Array(try #require(await journal.entries(1).first).utf8))
    #expect(payload["id"]?.string == (sendsIdentifiers ? "own-1" : nil))
    #expect(payload["query"]?.string == "query Identified { count }")
    #expect(payload["tenant"]?.string == "north")
    #expect(payload["extensions"] == nil)
  }

  @Test("a document that a stage has replaced is sent without the identifier of the operation", .rule("legacy.8", "legacy.13"))
  func replacedDocument() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      journal.note(try socket.message()?["payload"]?.description ?? "")
      try socket.readToEnd()
    }
    let transport = WebSocketTransport(
      request: URLRequest(url: server.socketURL), sendOperationIdentifiers: true,
      stages: Stages(graphQL: [ReplacingDocument(document: "query Identified { other }")]))
    _ = transport.start(Identified())
    let payload = try JSONValue(parsing: Array(try #require(await journal.entries(1).first).utf8))
    #expect(payload["query"]?.string == "query Identified { other }" && payload["id"] == nil)
  }

  @Test(
    "callbacks run on the queue of the caller, and results are published under the identifier of the caller", .rule("legacy.15"))
  func callers() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let store = ApolloStore()
    let subscriber = Subscriber(journal)
    store.subscribe(subscriber)
    let transport = WebSocketTransport.to(server, store: store)
    let (queue, key, identifier) = (DispatchQueue(label: "callers"), DispatchSpecificKey<String>(), UUID())
    queue.setSpecific(key: key, value: "callers")
    let call = Call()
    _ = transport.send(
      operation: CountQuery(), cachePolicy: .fetchIgnoringCacheData, contextIdentifier: identifier, callbackQueue: queue
    ) { [journal] result in
      journal.note(DispatchQueue.getSpecific(key: key) ?? "elsewhere")
      call.add(result)
    }
    #expect(await call.words(1) == ["1"])
    #expect(await journal.entries(2) == [identifier.uuidString, "callers"])
    // The second one comes from the store, and the last from the server.
    #expect(await transport.start(CountQuery(), .returnCacheDataElseFetch).call.words(1) == ["1"])
    #expect(await transport.start(CountQuery(), .fetchIgnoringCacheCompletely).call.words(1) == ["2"])
    #expect(await transport.start(CountQuery(), .returnCacheDataDontFetch).call.words(1) == ["1"])
  }

  @Test("cancelling sends stop once, and nothing is delivered afterwards; so does unsubscribing by id", .rule("legacy.16"))
  func cancelling() async throws {
    let server = try ScriptedServer.sockets { [journal] socket in
      try socket.begin()
      while let message = try socket.message() {
        let (type, id) = (message["type"]?.string ?? "", message["id"]?.string ?? "")
        journal.note("\(type) \(id)")
        if type == "start" { try socket.data(id, 1) }
        if type == "stop" { try socket.data(id, 2) }
      }
    }
    let transport = WebSocketTransport.to(server)
    let first = transport.start(Count())
    #expect(await first.call.words(1) == ["1"])
    first.cancellable.cancel()
    first.cancellable.cancel()
    #expect(await journal.entries(2) == ["start 1", "stop 1"])
    let second = transport.start(Count())
    #expect(await second.call.words(1) == ["1"])
    transport.unsubscribe("1")
    transport.unsubscribe("17")
    transport.unsubscribe("nonsense")
    transport.unsubscribe("2")
    #expect(await journal.entries(4) == ["start 1", "stop 1", "start 2", "stop 2"])
    // A later answer shows that the one to the stop was read.
    #expect(await transport.start(Count()).call.words(1) == ["1"])
    #expect(first.call.words == ["1"])
    #expect(second.call.words == ["1"])
  }

  @Test("a complete ends and frees its operation, and no callback comes", .rule("legacy.17"))
  func complete() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      while let id = try socket.start() {
        if Int(id)?.isMultiple(of: 2) == true { try socket.data(id, 4) }
        try socket.complete(id)
      }
    }
    let transport = WebSocketTransport.to(server)
    var kept: Call? = Call()
    weak let freed = kept
    _ = try transport.start(Count(), call: #require(kept))
    kept = nil
    #expect(await eventually { freed == nil })
    let second = transport.start(Count())
    #expect(await second.call.words(1) == ["4"])
    // A query must have a result.
    #expect(await transport.start(CountQuery()).call.words(1).first?.contains("without a result") == true)
    #expect(second.call.words == ["4"])
  }

  @Test(
    "an operation's error fails that one alone, and a message for an unknown id disturbs none", .rule("legacy.18", "legacy.19"))
  func errors() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let first = try socket.start(), let second = try socket.start() else { return }
      try socket.data("99", 8)
      try socket.send(#"{"id":"98","type":"error","payload":{"message":"for no operation"}}"#)
      try socket.complete("97")
      try socket.send(#"{"id":"\#(first)","type":"error","payload":{"message":"no such field"}}"#)
      try socket.data(first, 7)
      try socket.data(second, 1)
      try socket.data(second, 2)
      try socket.readToEnd()
    }
    let transport = WebSocketTransport.to(server)
    let (first, second) = (transport.start(CountQuery()), transport.start(Count()))
    #expect(await second.call.words(2) == ["1", "2"])
    let words = await first.call.words(1)
    #expect(words.count == 1 && words[0].contains("no such field"), "\(words)")
  }

  @Test("results pass the interceptors of the provider, and reach the store", .rule("legacy.14"))
  func provider() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let store = ApolloStore()
    let transport = WebSocketTransport.to(server, provider: NotedProvider(store: store, journal: journal))
    #expect(await transport.start(CountQuery()).call.words(1) == ["1"])
    #expect(journal.entries == ["request", "200 []"])
    #expect(await transport.start(CountQuery(), .returnCacheDataDontFetch).call.words(1) == ["1"])
    #expect(server.connections == 1)
  }

  @Test("without a provider and a store, results are parsed only, and the core's limits apply", .rule("legacy.14"))
  func noProvider() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      try socket.answerAll()
    }
    let transport = WebSocketTransport.to(server)
    #expect(await transport.start(CountQuery(), .default).call.words(1) == ["1"])
    #expect(await transport.start(CountQuery(), .default).call.words(1) == ["2"])
  }

  @Test("a GraphQL stage drops every second result, and an HTTP stage is reported because it does not run", .rule("legacy.14"))
  func stages() async throws {
    let server = try ScriptedServer.sockets { socket in
      try socket.begin()
      guard let id = try socket.start() else { return }
      for count in 1...6 { try socket.data(id, count) }
      try socket.readToEnd()
    }
    let transport = WebSocketTransport(
      request: URLRequest(url: server.socketURL), stages: Stages(graphQL: [EverySecond()], http: [Unseen()]))
    let call = transport.start(Count()).call
    #expect(await call.words(3) == ["1", "3", "5"])
    #expect(transport.skippedStages == ["unseen"])
  }

  @Test("SplitNetworkTransport sends subscriptions one way and the rest the other, and has both names", .rule("legacy.28"))
  func split() async throws {
    let (http, sockets) = (Recording("shop", "1"), Recording("shop", "2"))
    let split = SplitNetworkTransport(uploadingNetworkTransport: http, webSocketNetworkTransport: sockets)
    _ = split.start(Count())
    _ = split.start(CountQuery())
    _ = split.start(CountMutation())
    _ = split.upload(operation: CountMutation(), files: []) { _ in }
    #expect(http.journal.entries == ["query", "mutation", "upload"])
    #expect(sockets.journal.entries == ["subscription"])
    #expect(split.clientName == "shop")
    #expect(split.clientVersion == "SPLIT_HTTPVERSION_1_WEBSOCKETVERSION_2")
    let other = SplitNetworkTransport(uploadingNetworkTransport: http, webSocketNetworkTransport: Recording("app", "1"))
    #expect(other.clientName == "SPLIT_HTTPNAME_shop_WEBSOCKETNAME_app")
    #expect(other.clientVersion == "1")
  }
}

/// An operation with an identifier of its own.
struct Identified: IdentifiedOperation, GraphQLQuery {
  typealias Data = JSONValue

  var operationName: String? { "Identified" }
  var document: String { "query Identified { count }" }
  var operationIdentifier: String? { "own-1" }
}

/// Bodies with a member of the program's own.
struct TenantBody: RequestBodyCreator {
  func requestBody<Operation: GraphQLOperation>(
    for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
  ) -> JSONEncodableDictionary {
    var body = ApolloRequestBodyCreator().requestBody(
      for: operation, sendQueryDocument: sendQueryDocument, autoPersistQuery: autoPersistQuery)
    body["tenant"] = "north"
    return body
  }
}

/// Notes under which identifiers results are published.
private final class Subscriber: ApolloStoreSubscriber {
  private let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  func store(_ store: ApolloStore, didChangeKeys changedKeys: Set<CacheKey>, contextIdentifier: UUID?) {
    journal.note(contextIdentifier?.uuidString ?? "none")
  }
}

/// The list of the 0.3x generation, with an interceptor at each end.
private final class NotedProvider: LegacyInterceptorProvider {
  private let journal: Journal

  init(store: ApolloStore, journal: Journal) {
    self.journal = journal
    super.init(store: store)
  }

  override func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    [Noted(journal: journal)] + super.interceptors(for: operation) + [Noted(journal: journal)]
  }
}

private struct Noted: ApolloInterceptor {
  let journal: Journal

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    if let head = response?.httpResponse {
      journal.note("\(head.statusCode) \(head.allHeaderFields.keys.sorted())")
    } else {
      journal.note("request")
    }
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

/// A transport that notes what it is sent.
private final class Recording: UploadingNetworkTransport {
  let journal = Journal()
  let clientName: String
  let clientVersion: String

  init(_ name: String, _ version: String) { (clientName, clientVersion) = (name, version) }

  func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy, contextIdentifier: UUID?, context: (any RequestContext)?,
    callbackQueue: DispatchQueue, completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    journal.note(operation.operationType.rawValue)
    return EmptyCancellable()
  }

  func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile], context: (any RequestContext)?, callbackQueue: DispatchQueue,
    completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable {
    journal.note("upload")
    return EmptyCancellable()
  }
}
