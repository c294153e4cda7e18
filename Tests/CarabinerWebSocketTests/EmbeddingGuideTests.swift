import Carabiner
import CarabinerCurl
import FoundationEssentials
import ScriptedServer
import ScriptedSocket
import Synchronization
import Testing

@Suite("The guide for embedding the client")
struct EmbeddingGuideTests {
  /// The relevant lines of a listing: without indentation, blank lines and imports.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty && !$0.hasPrefix("import ") }
  }

  private static func contents(_ path: String) throws -> String {
    let repository = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return String(decoding: try Data(contentsOf: URL(filePath: "/\(repository)/\(path)")), as: UTF8.self)
  }

  @Test("every listing of the page in Swift is code that compiles")
  func listings() throws {
    let page = try Self.contents("Sources/Carabiner/Documentation.docc/Embedding.md")
    // Listings with generated types are in the tests of those.
    let files = [
      "CarabinerWebSocketTests/EmbeddingGuide.swift", "CarabinerGeneratorTests/Mocks/MockValuesTests.swift",
      "CarabinerGeneratorTests/Values/LocalChangeTests.swift", "Examples/TypedClient/Sources/TypedClient/TypedClient.swift",
    ]
    let code = try files.map { Self.lines(try Self.contents("Tests/\($0)")).joined(separator: "\n") }
    let parts = page.split(separator: "```", omittingEmptySubsequences: false)
    let listings = parts.enumerated().filter { $0.offset % 2 == 1 && $0.element.hasPrefix("swift") }.map(\.element)
    // The first listing is a Package.swift.
    #expect(listings.count > 8 && listings.first?.contains("swift-tools-version") == true)
    for listing in listings.dropFirst() {
      let wanted = Self.lines(String(listing.dropFirst("swift".count))).joined(separator: "\n")
      #expect(code.contains { $0.contains(wanted) }, "the tests lack a listing of Embedding.md")
    }
  }

  @Test("the client fetches a book, and the provider's interceptor adds its header")
  func fetch() async throws {
    let authorizations = Mutex<[String?]>([])
    let server = try ScriptedServer(
      ScriptedServer.answering { request, peer in
        authorizations.withLock { $0.append(request.header("Authorization")) }
        try peer.respond(
          headers: "Content-Type: application/json\r\n",
          body: #"{"data":{"book":{"__typename":"Book","id":"2","title":"Solaris"}}}"#)
      })
    let url = try #require(URL(string: "\(server.origin)/graphql"))
    try await EmbeddingGuide.fetch(url: url)
    let client = ApolloClient(
      networkTransport: RequestChainNetworkTransport(
        interceptorProvider: EmbeddingGuide.Provider(), endpointURL: url, httpTransport: try CurlTransport()))
    let response = try await client.fetch(query: EmbeddingGuide.BookQuery(id: "2"), cachePolicy: .networkOnly)
    #expect(try response.data?.book?.title == "Solaris")
    #expect(authorizations.withLock { $0 } == [nil, "Bearer secret"])
  }
}
