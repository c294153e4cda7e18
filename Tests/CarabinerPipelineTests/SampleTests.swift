import CarabinerPipeline
import Dispatch
import Foundation
import GeneratedSample
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("Code of the 1.x generation", .timeLimit(.minutes(2)))
struct SampleTests {
  @Test("a provider of own and built-in interceptors renews its token, logs, sends and parses")
  func wholeList() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let network = Network(url: try #require(URL(string: server.origin)))
    let results = Results<HeroQuery.Data>()
    network.apollo.fetch(query: HeroQuery(), queue: .global()) { results.add($0) }
    #expect(await eventually { (try? results.all.first?.get().data?.hero.name) == "R2" })
    #expect(network.journal.entries == ["request Hero", "status 200", "body \(heroJSON)"])
    #expect(server.requests.first?.header("Authorization") == "Bearer renewed-1")
    #expect(server.requests.first?.header("X-App") == "sample")
  }

  @Test("generated operations work with the client of 1.x, from the server and from the store", .rule("generate.9"))
  func generatedOperation() async throws {
    let body = #"{"data":{"__typename":"Query","books":[{"__typename":"Book","title":"Solaris"}],"shelves":[]}}"#
    let service = try Service { _, peer in try peer.json(body) }
    for count in 1...2 {
      let results = Results<BooksQuery.Data>()
      service.client.fetch(query: BooksQuery(first: .some(1)), queue: service.queue) { results.add($0) }
      #expect(await eventually { (try? results.all.first?.get().data?.books.map(\.title)) == ["Solaris"] })
      #expect(service.server.requests.count == 1, "fetch \(count)")
    }
    #expect(service.server.requests.first.map { String(decoding: $0.body, as: UTF8.self) }?.contains(#""first":1"#) == true)
  }

  @Test("a response logger in the wrong place gives its error and then the result", .rule("pipeline.10"))
  func wrongPlace() async throws {
    let service = try Service()
    service.provider.first = [ResponseLogInterceptor(journal: Journal())]
    #expect(await service.fetch(results: 2) == ["notYetReceived", "server R2"])
  }

  @Test("a user who is not logged in gets the error of the interceptor, which the error logger sees")
  func notLoggedIn() async throws {
    let journal = Journal()
    let service = try Service()
    service.provider.first = [LoginInterceptor(login: Login(token: nil))]
    service.provider.errors = ErrorLogInterceptor(journal: journal)
    #expect(await service.fetch() == ["notLoggedIn"])
    #expect(journal.entries == ["error notLoggedIn"] && service.server.connections == 0)
  }

  @Test("cancelling during a token refresh sends nothing and calls no handler", .rule("pipeline.31"))
  func cancelledRefresh() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let login = Login(token: Token(value: "old", isExpired: true))
    let (began, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    login.beforeRenewal = {
      began.signal()
      gate.wait()
    }
    let transport = RequestChainNetworkTransport(
      interceptorProvider: LoginProvider(store: ApolloStore(), login: login),
      endpointURL: try #require(URL(string: server.origin)))
    let results = Results<HeroQuery.Data>()
    let call = transport.send(operation: HeroQuery(), callbackQueue: .global()) { results.add($0) }
    began.wait()
    call.cancel()
    gate.signal()
    #expect(await eventually { login.renewals == 1 })
    #expect(results.all.isEmpty && server.connections == 0)
  }

  @Test("the listings of the guide are parts of samples that are compiled")
  func listings() throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/MigratingPipeline.md"), encoding: .utf8)
    let folder = Repository.root.appending(path: "Tests/PipelineSamples")
    let samples = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .map { lines(try String(contentsOf: $0, encoding: .utf8)) }
    let listings = page.components(separatedBy: "```swift\n").dropFirst().map { lines($0.components(separatedBy: "```")[0]) }
    #expect(listings.count == 8)
    for listing in listings {
      #expect(samples.contains { $0.contains(listing) }, "\(listing)")
    }
  }

  @Test("the additional error interceptor sees errors of uploads", .rule("pipeline.24"))
  func uploadErrors() async throws {
    let journal = Journal()
    let service = try Service { _, peer in try peer.json("{}", status: "500 Fault") }
    service.provider.errors = ErrorLogInterceptor(journal: journal)
    let results = Results<JSONValue>()
    let file = GraphQLFile(fieldName: "file", originalName: "a", data: Data("a".utf8))
    service.client.upload(operation: Upload(), files: [file], queue: service.queue) { results.add($0) }
    #expect(await results.words(1).first?.contains("status 500") == true && journal.entries.count == 1)
  }

  @Test("an upload over a transport that cannot is an error of its handler", .rule("pipeline.58"))
  func noUpload() async {
    let client = ApolloClient(networkTransport: SendingTransport())
    let results = Results<JSONValue>()
    client.upload(operation: Upload(), files: [], queue: .global()) { results.add($0) }
    #expect(await results.words(1).first?.hasPrefix("the transport cannot upload") == true)
  }
}

/// A transport without uploads.
private final class SendingTransport: NetworkTransport {
  func send<Operation: GraphQLOperation>(
    operation: Operation, cachePolicy: CachePolicy, contextIdentifier: UUID?, context: (any RequestContext)?,
    callbackQueue: DispatchQueue, completionHandler: @escaping (Result<GraphQLResult<Operation.Data>, any Error>) -> Void
  ) -> any Cancellable { EmptyCancellable() }
}
