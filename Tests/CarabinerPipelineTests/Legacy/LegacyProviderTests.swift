import CarabinerPipeline
import Foundation
import PipelineSamples
import ScriptedServer
import TestTools
import Testing

@Suite("The list of the 0.3x generation", .timeLimit(.minutes(2)))
struct LegacyProviderTests {
  @Test("the provider has seven interceptors in their order, and a subclass puts one at either end", .rule("legacy.7"))
  func list() async throws {
    func names(_ list: [any ApolloInterceptor]) -> [String] { list.map { String(describing: type(of: $0)) } }
    let seven = [
      "MaxRetryInterceptor", "LegacyCacheReadInterceptor", "NetworkFetchInterceptor", "ResponseCodeInterceptor",
      "LegacyParsingInterceptor", "AutomaticPersistedQueryInterceptor", "LegacyCacheWriteInterceptor",
    ]
    #expect(names(LegacyInterceptorProvider(store: ApolloStore()).interceptors(for: HeroQuery())) == seven)
    let (store, journal) = (ApolloStore(), Journal())
    let service = try LegacyService(LoggedProvider(store: store, journal: journal), store: store)
    #expect(try await service.result(of: HeroQuery()).data?.hero.name == "R2")
    #expect(journal.entries == ["request Hero", "status 200", "body \(heroJSON)"])
    #expect(try await service.result(of: HeroQuery(), .returnCacheDataDontFetch).source == .cache)
  }

  @Test("the order of the list for decoders", .rule("legacy.4"))
  func codableList() {
    let list = CodableInterceptorProvider(decoder: JSONDecoder()).interceptors(for: HeroQuery())
    #expect(
      list.map { String(describing: type(of: $0)) } == [
        "MaxRetryInterceptor", "NetworkFetchInterceptor", "ResponseCodeInterceptor", "CodableParsingInterceptor<JSONDecoder>",
        "AutomaticPersistedQueryInterceptor",
      ])
  }

  @Test("the additional error interceptor of a subclass is asked", .rule("legacy.7"))
  func errors() async throws {
    let (store, journal) = (ApolloStore(), Journal())
    let service = try LegacyService(LoggedProvider(store: store, journal: journal)) { _, peer in try peer.json("[]") }
    await #expect(throws: LegacyParsingInterceptor.LegacyParsingError.couldNotParseToLegacyJSON(data: Data("[]".utf8))) {
      try await service.result(of: HeroQuery())
    }
    #expect(journal.entries.last?.hasPrefix("error the response is not a JSON object") == true)
  }

  @Test("a program of the 0.3x generation renews its token, logs, sends and parses")
  func sample() async throws {
    let server = try ScriptedServer(ScriptedServer.answering { _, peer in try peer.json(heroJSON) })
    let network = LegacyNetwork(url: try #require(URL(string: server.origin)))
    #expect(try await network.apollo.fetch(query: HeroQuery()).data?.hero.name == "R2")
    #expect(server.requests.first?.header("Authorization") == "Bearer renewed-1")
    #expect(network.journal.entries == ["request Hero", "status 200", "body \(heroJSON)"])
  }

  @Test("the body of a request creator is sent, and id is beside query", .rule("legacy.8"))
  func creator() async throws {
    let service = try LegacyService(LegacyInterceptorProvider(store: ApolloStore()), creator: TenantCreator()) { _, peer in
      try peer.json(#"{"data":{"a":1}}"#)
    }
    _ = try await service.result(of: Identified())
    _ = try await service.result(of: Anything())
    let bodies = service.server.requests.map(\.json)
    #expect(bodies.map { $0?["tenant"]?.string } == ["north", "north"])
    #expect(bodies.map { $0?["id"]?.string } == ["own-1", nil])
    #expect(bodies.map { $0?["query"]?.string } == [Identified().document, Anything().document])
    // The creator makes the whole body.
    #expect(bodies.allSatisfy { $0?["extensions"] == nil })
  }

  /// Adds a part to the default form.
  struct PartCreator: RequestCreator {
    func requestMultipartFormData<Operation: GraphQLOperation>(
      for operation: Operation, files: [GraphQLFile], sendOperationIdentifiers: Bool, manualBoundary: String?
    ) throws -> MultipartFormData {
      let form = try ApolloRequestCreator().requestMultipartFormData(
        for: operation, files: files, sendOperationIdentifiers: sendOperationIdentifiers, manualBoundary: "B")
      form.appendPart(string: "north", name: "tenant\"\r\nX: 1")
      return form
    }
  }

  @Test("an upload sends the form of the request creator and the headers of the transport", .rule("legacy.8", "legacy.9"))
  func upload() async throws {
    let service = try LegacyService(
      LegacyInterceptorProvider(store: ApolloStore()), creator: PartCreator(), headers: ["X-Key": "k"]
    ) { _, peer in try peer.json(#"{"data":{"upload":"ok"}}"#) }
    let results = Results<JSONValue>()
    let file = GraphQLFile(fieldName: "file", originalName: "a.txt", data: Data("contents".utf8))
    service.client.upload(operation: Upload(), files: [file], queue: .global()) { results.add($0) }
    _ = await results.words(1)
    let request = try #require(service.server.requests.first)
    #expect(request.header("X-Key") == "k" && request.header("Content-Type") == "multipart/form-data; boundary=B")
    let parts = String(decoding: request.body, as: UTF8.self).components(separatedBy: "--B")
    try #require(parts.count == 6, "\(parts)")
    #expect(parts[3].hasSuffix("\r\n\r\ncontents\r\n") && parts[5] == "--\r\n")
    #expect(parts[4] == "\r\nContent-Disposition: form-data; name=\"tenant%22%0D%0AX: 1\"\r\n\r\nnorth\r\n")
  }

  @Test("a form with a malformed media type is refused")
  func form() throws {
    let form = MultipartFormData(boundary: "B")
    form.appendPart(data: Data("1".utf8), name: "a", contentType: "text/plain", filename: "a.txt")
    #expect(
      String(decoding: try form.encode(), as: UTF8.self)
        == "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n1\r\n--B--\r\n"
    )
    form.appendPart(data: Data(), name: "b", contentType: "text/plain\r\nX: 1")
    #expect(throws: (any Error).self) { try form.encode() }
  }

  @Test("the listings of the guide are parts of samples that are compiled")
  func listings() throws {
    func lines(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let page = try String(
      contentsOf: Repository.root.appending(path: "Sources/Carabiner/Documentation.docc/MigratingLegacy.md"), encoding: .utf8)
    let sample = try ["PipelineSamples/Legacy", "SocketSamples/Subscriptions"].map { name in
      lines(try String(contentsOf: Repository.root.appending(path: "Tests/\(name).swift"), encoding: .utf8))
    }.joined()
    let listings = page.components(separatedBy: "```swift\n").dropFirst().map { lines($0.components(separatedBy: "```")[0]) }
    #expect(listings.count == 8)
    for listing in listings { #expect(sample.contains(listing), "\(listing)") }
  }
}
