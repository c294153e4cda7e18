import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Requests on the wire", .timeLimit(.minutes(2)))
struct RequestTests {
  @Test("every request has the header fields of this generation, and names the library", .rule("pipeline.40", "pipeline.42"))
  func headers() async throws {
    let service = try Service()
    service.transport.clientName = "app"
    service.transport.clientVersion = "3"
    #expect(await service.fetch() == ["server R2"])
    let request = try #require(service.server.requests.first)
    #expect(request.header("Content-Type") == "application/json")
    #expect(request.header("Accept") == "application/graphql-response+json,application/json")
    #expect(request.header("X-APOLLO-OPERATION-NAME") == "Hero" && request.header("X-APOLLO-OPERATION-TYPE") == "query")
    #expect(request.header("X-APOLLO-OPERATION-ID") == nil)
    #expect(request.header("apollographql-client-name") == "app" && request.header("apollographql-client-version") == "3")
    #expect(request.json?["extensions"]?["clientLibrary"]?["name"]?.string == "carabiner")
    #expect(RequestChainNetworkTransport.defaultClientName.hasSuffix("carabiner"))
  }

  @Test("additional headers of the transport do not replace Accept, and names are compared without case", .rule("pipeline.41"))
  func additionalHeaders() async throws {
    let service = try Service(headers: ["accept": "text/html", "X-Key": "1"])
    service.provider.first = [
      ForAll { request in
        request.addHeader(name: "x-key", value: "2")
      }
    ]
    #expect(await service.fetch() == ["server R2"])
    let request = try #require(service.server.requests.first)
    #expect(request.headers.filter { $0.name.lowercased() == "accept" }.count == 1)
    #expect(request.header("accept")?.hasPrefix("application/graphql-response+json") == true)
    #expect(request.headers.filter { $0.name.lowercased() == "x-key" }.map(\.value) == ["2"])
  }

  @Test("parts are asked for only if the document defers or streams", .rule("pipeline.40"))
  func acceptedParts() throws {
    struct Deferring: GraphQLQuery {
      typealias Data = JSONValue

      let operationName: String? = nil
      let document: String
    }
    func accept(_ document: String) throws -> String? {
      let request = HTTPRequest(
        graphQLEndpoint: try #require(URL(string: "http://127.0.0.1:1")), operation: Deferring(document: document),
        contentType: "application/json", clientName: "", clientVersion: "", additionalHeaders: [:])
      return request.additionalHeaders["Accept"]
    }
    #expect(
      try accept("{ a { ... @defer { b } } }")
        == "multipart/mixed;incrementalSpec=v0.2,multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json"
    )
    #expect(try accept("{ a }") == "application/graphql-response+json,application/json")
  }

  /// A row of the table of `pipeline.43`: the settings, and how the query is sent first and after `PersistedQueryNotFound`.
  struct Row: CustomTestStringConvertible, Sendable {
    let persists: Bool
    let get: Bool
    let getForRetry: Bool
    let first: String
    let second: String?

    var testDescription: String { "persisted \(persists), GET \(get), GET for retry \(getForRetry)" }
  }

  static let rows = [
    Row(persists: false, get: false, getForRetry: false, first: "POST document", second: nil),
    Row(persists: false, get: false, getForRetry: true, first: "POST document", second: nil),
    Row(persists: false, get: true, getForRetry: false, first: "GET document", second: nil),
    Row(persists: true, get: false, getForRetry: false, first: "POST hash", second: "POST document hash"),
    Row(persists: true, get: true, getForRetry: false, first: "GET hash", second: "POST document hash"),
    Row(persists: true, get: false, getForRetry: true, first: "GET hash", second: "GET document hash"),
    Row(persists: true, get: true, getForRetry: true, first: "GET hash", second: "GET document hash"),
  ]

  private static func describe(_ request: ReceivedRequest) -> String {
    let hasDocument = request.target.contains("query=query") || request.json?["query"]?.string != nil
    let hasHash = request.target.contains("sha256Hash") || request.json?["extensions"]?["persistedQuery"] != nil
    return "\(request.method)\(hasDocument ? " document" : "")\(hasHash ? " hash" : "")"
  }

  @Test("each row of the table of methods and documents, seen by a server", .rule("pipeline.43", "pipeline.46"), arguments: rows)
  func table(row: Row) async throws {
    let service = try Service(persists: row.persists, get: row.get, getForRetry: row.getForRetry) { request, peer in
      let text = Self.describe(request)
      try peer.json(text.contains("document") ? heroJSON : #"{"errors":[{"message":"PersistedQueryNotFound"}]}"#)
    }
    #expect(await service.fetch() == ["server R2"])
    #expect(service.server.requests.map(Self.describe) == [row.first] + (row.second.map { [$0] } ?? []))
  }

  @Test(
    "a hash may be refused with a status of 400 to 499; other answers with such a status are errors", .rule("pipeline.46"),
    arguments: [
      ("400 Bad", "PersistedQueryNotFound", 2), ("404 Gone", "PersistedQueryNotFound", 2),
      ("400 Bad", "PersistedQueryNotSupported", 2),
      ("400 Bad", "no", 1), ("403 No", "PersistedQueryNotFound", 1), ("500 Bad", "PersistedQueryNotFound", 1),
    ])
  func refusedWithStatus(status: String, message: String, requests: Int) async throws {
    let service = try Service(persists: true) { request, peer in
      let hasDocument = Self.describe(request).contains("document")
      try peer.json(hasDocument ? heroJSON : #"{"errors":[{"message":"\#(message)"}]}"#, status: hasDocument ? "200 OK" : status)
    }
    let words = await service.fetch()
    #expect((words == ["server R2"]) == (requests == 2), "\(words)")
    #expect(service.server.requests.count == requests)
  }

  @Test(
    "a hash that stays unknown is an error; a server without persisted queries gets documents from then on", .rule("pipeline.46"))
  func refusals() async throws {
    func service(_ code: String) throws -> Service {
      try Service(persists: true) { request, peer in
        let isRefused = code == "PERSISTED_QUERY_NOT_FOUND" || Self.describe(request).contains("hash")
        try peer.json(isRefused ? #"{"errors":[{"message":"no","extensions":{"code":"\#(code)"}}]}"# : heroJSON)
      }
    }
    let unknown = try service("PERSISTED_QUERY_NOT_FOUND")
    #expect(await unknown.fetch().first?.contains("although it was sent with its document") == true)
    #expect(unknown.server.requests.count == 2)
    let unsupported = try service("PERSISTED_QUERY_NOT_SUPPORTED")
    #expect(await unsupported.fetch() == ["server R2"])
    #expect(await unsupported.fetch() == ["server R2"])
    #expect(unsupported.server.requests.map(Self.describe) == ["POST hash", "POST document", "POST document"])
  }

  @Test("an interceptor for persisted queries without a parsed response is an error", .rule("pipeline.46"))
  func persistedWithoutResponse() async throws {
    let request = JSONRequest(
      operation: Anything(), graphQLEndpoint: URL(filePath: "/"), clientName: "", clientVersion: "", autoPersistQueries: true)
    let results = Results<JSONValue>()
    let chain = InterceptorRequestChain(interceptors: [AutomaticPersistedQueryInterceptor()], callbackQueue: .global())
    chain.kickoff(request: request) { results.add($0) }
    #expect(await results.words(1).first?.hasPrefix("there is no parsed response") == true)
  }

  @Test(
    "an endpoint with query items keeps them in a GET, plus signs survive, and there is no Content-Type", .rule("pipeline.44"))
  func get() async throws {
    let service = try Service(path: "/graphql?key=a+b", get: true)
    #expect(await service.fetch() == ["server R2"])
    let request = try #require(service.server.requests.first)
    #expect(request.target.hasPrefix("/graphql?key=a+b&extensions=") && request.target.contains("&operationName=Hero&query="))
    #expect(request.header("Content-Type") == nil && request.header("Apollo-Require-Preflight") == "true")
    let plus = JSONRequest(
      operation: Anything(variables: ["a": "x+y;z"]), graphQLEndpoint: try #require(URL(string: "http://127.0.0.1/?a=1")),
      clientName: "", clientVersion: "", useGETForQueries: true)
    #expect(try plus.toURLRequest().url.absoluteString.contains("x%2By%3Bz"))
  }

  struct Body: RequestBodyCreator {
    let log: Log

    func requestBody<Operation: GraphQLOperation>(
      for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
    ) -> JSONEncodableDictionary {
      log.note("\(sendQueryDocument) \(autoPersistQuery)")
      return ["z": .bool(sendQueryDocument), "a": 1]
    }
  }

  @Test(
    "a custom body creator's body is what the server gets, with sorted keys, also in the retry with the document",
    .rule("pipeline.45"))
  func bodyCreator() async throws {
    let log = Log()
    let service = try Service(persists: true, body: Body(log: log), namesLibrary: false) { request, peer in
      let isFirst = String(decoding: request.body, as: UTF8.self).contains("false")
      try peer.json(isFirst ? #"{"errors":[{"message":"PersistedQueryNotFound"}]}"# : heroJSON)
    }
    #expect(await service.fetch() == ["server R2"])
    #expect(
      service.server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"a":1,"z":false}"#, #"{"a":1,"z":true}"#])
    #expect(log.entries == ["false true", "true true"])
  }

  struct NoBody: RequestBodyCreator {
    func requestBody<Operation: GraphQLOperation>(
      for operation: Operation, sendQueryDocument: Bool, autoPersistQuery: Bool
    ) -> JSONEncodableDictionary { [:] }
  }

  @Test("a request that cannot be written is an error of the call, and nothing is sent", .rule("pipeline.49"))
  func unwritable() async throws {
    let service = try Service(body: NoBody())
    #expect(await service.fetch() == ["\(GraphQLHTTPRequestError.serializedBodyMessageError)"])
    #expect(service.server.requests.isEmpty)
  }

  @Test("an upload retried after a 503 sends its file again, whole, with its boundary", .rule("pipeline.47"))
  func upload() async throws {
    let service = try Service { request, peer in
      let isFirst = peer.number == 1 && request.header("X-Again") == nil
      if isFirst { try peer.json("{}", status: "503 Busy") } else { try peer.json(#"{"data":{"upload":"ok"}}"#) }
    }
    service.provider.errors = RetryOnce()
    let folder = FileManager.default.temporaryDirectory.appending(path: "pipeline-\(UUID().uuidString)")
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    try Data("contents of the file".utf8).write(to: folder)
    let file = try GraphQLFile(fieldName: "file", originalName: "a.txt", fileURL: folder)
    #expect(file.contentLength == 20 && file.mimeType == GraphQLFile.octetStreamMimeType)
    let results = Results<JSONValue>()
    service.client.upload(operation: Upload(), files: [file], queue: service.queue) { results.add($0) }
    _ = await results.words(1)
    #expect(service.server.requests.count == 2)
    for request in service.server.requests {
      let text = String(decoding: request.body, as: UTF8.self)
      #expect(text.contains("contents of the file") && text.contains(#"{"0":["variables.file"]}"#))
    }
    let manual = UploadRequest(
      graphQLEndpoint: URL(filePath: "/"), operation: Upload(), clientName: "", clientVersion: "", files: [file],
      manualBoundary: "TEST")
    #expect(try manual.toURLRequest().value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=TEST")
    // A file that vanishes between two attempts is an error.
    try FileManager.default.removeItem(at: folder)
    #expect(throws: (any Error).self) { try manual.toURLRequest() }
    #expect(throws: GraphQLFile.GraphQLFileError.couldNotGetFileSize(fileURL: folder)) {
      try GraphQLFile(fieldName: "file", originalName: "a", fileURL: folder)
    }
  }

  private struct Slow: RequestContextTimeoutConfigurable {
    let requestTimeout: TimeInterval
  }

  @Test("a context with a timeout limits the transfer", .rule("pipeline.48"))
  func timeout() throws {
    let request = JSONRequest(
      operation: Anything(), graphQLEndpoint: URL(filePath: "/"), clientName: "", clientVersion: "",
      context: Slow(requestTimeout: 7))
    #expect(try request.toURLRequest().timeoutInterval == 7)
  }

  @Test("if asked to, the timeout covers interceptors, and the caller gets an error", .rule("pipeline.48"))
  func wholeTimeout() async throws {
    nonisolated(unsafe) var kept: [StepCall] = []
    let provider = ListProvider(list: [Step { unsafe kept.append($0) }], log: Log())
    let transport = RequestChainNetworkTransport(interceptorProvider: provider, endpointURL: URL(filePath: "/"))
    transport.timeoutCoversInterceptors = true
    let results = Results<JSONValue>()
    let call = transport.send(
      operation: Anything(), context: Slow(requestTimeout: 0.01), callbackQueue: .global()
    ) { results.add($0) }
    #expect(await results.words(1).first?.contains("an attempt took longer than 0.01 s") == true)
    unsafe kept[0].give("late")
    call.cancel()
    #expect(results.all.count == 1)
  }

  @Test(
    "a timeout that no timer can wait for limits nothing", .rule("pipeline.48"),
    arguments: [TimeInterval.infinity, .nan, 1e300])
  func endlessTimeout(_ timeout: TimeInterval) async {
    let transport = RequestChainNetworkTransport(
      interceptorProvider: ListProvider(list: [ending()], log: Log()), endpointURL: URL(filePath: "/"))
    transport.timeoutCoversInterceptors = true
    let results = Results<JSONValue>()
    _ = transport.send(operation: Anything(), context: Slow(requestTimeout: timeout), callbackQueue: .global()) {
      results.add($0)
    }
    #expect(await results.words(1) == ["end"])
  }

  @Test("the provider is asked once for each operation, and the first interceptor runs before send returns", .rule("pipeline.1"))
  func askedOnce() async {
    let log = Log()
    let provider = ListProvider(
      list: [
        Step { call in
          log.note("first")
          if log.entries.count < 5 { call.retry() } else { call.proceed() }
        }, ending(),
      ], log: log)
    let transport = RequestChainNetworkTransport(interceptorProvider: provider, endpointURL: URL(filePath: "/"))
    let results = Results<JSONValue>()
    _ = transport.send(operation: Anything(), callbackQueue: .global()) { results.add($0) }
    #expect(log.entries == ["interceptors", "errors", "first", "first", "first"])
    #expect(await results.words(1) == ["end"])
  }

  @Test("a header value with a line break is refused, and nothing is sent", .rule("pipeline.41"))
  func lineBreak() async throws {
    let service = try Service(headers: ["X-A": "1\r\nX-B: 2"])
    #expect(await service.fetch().first?.contains("invalidHeader") == true)
    #expect(service.server.requests.isEmpty)
  }

  @Test("requests are equal by their parts, and their description shows no header value")
  func equality() {
    func request(_ key: String) -> HTTPRequest<Anything> {
      JSONRequest(
        operation: Anything(), graphQLEndpoint: URL(filePath: "/"), clientName: "", clientVersion: "",
        additionalHeaders: ["Authorization": key])
    }
    #expect(request("1") == request("1") && request("1") != request("2") && Set([request("1"), request("1")]).count == 1)
    #expect(!request("secret").debugDescription.contains("secret"))
  }
}

/// Returns one list for each operation.
private struct ListProvider: InterceptorProvider {
  let list: [any ApolloInterceptor]
  let log: Log

  func interceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any ApolloInterceptor] {
    log.note("interceptors")
    return list
  }

  func additionalErrorInterceptor<Operation: GraphQLOperation>(for operation: Operation) -> (any ApolloErrorInterceptor)? {
    log.note("errors")
    return nil
  }
}

/// Changes each request, and proceeds.
struct ForAll: ApolloInterceptor {
  let change: (any Headed) -> Void

  func interceptAsync<Operation: GraphQLOperation>(
    chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    change(request)
    chain.proceedAsync(request: request, response: response, completion: completion)
  }
}

/// A request of any operation.
protocol Headed: AnyObject {
  var cachePolicy: CachePolicy { get set }
  func addHeader(name: String, value: String)
}

extension HTTPRequest: Headed {}

/// Retries the first error of each request.
final class RetryOnce: ApolloErrorInterceptor {
  func handleErrorAsync<Operation: GraphQLOperation>(
    error: any Error, chain: any RequestChain, request: HTTPRequest<Operation>, response: HTTPResponse<Operation>?,
    completion: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) {
    guard request.additionalHeaders["X-Again"] == nil else { return completion(.failure(error)) }
    request.addHeader(name: "X-Again", value: "1")
    chain.retry(request: request, completion: completion)
  }
}
