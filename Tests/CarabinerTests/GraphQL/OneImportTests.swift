import Carabiner
import Testing

@Suite("A program that imports Carabiner and no other module of the package")
struct OneImportTests {
  private struct BookQuery: GraphQLQuery {
    typealias Data = JSONValue

    let id: String

    var operationName: String? { "Book" }
    var document: String { "query Book($id: ID!) { book(id: $id) { title } }" }
    var variables: JSONObject { ["id": .string(id), "first": 2] }
  }

  @Test("writes variables and reads results")
  func variables() async throws {
    let transport = RecordingTransport(json: #"{"data":{"book":{"title":"Solaris"}}}"#)
    let response = try await ApolloClient.testing(transport).fetch(query: BookQuery(id: "1"), cachePolicy: .networkOnly)
    #expect(try response.data?["book"]?["title"]?.string == "Solaris")
    #expect(BookQuery(id: "1").variables.count == 2)
  }
}
