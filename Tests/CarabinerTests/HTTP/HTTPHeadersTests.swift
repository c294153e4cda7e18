import Carabiner
import FoundationEssentials
import Testing

@Suite("Header fields")
struct HTTPHeadersTests {
  @Test("names are case-insensitive, order and duplicates are kept")
  func namesAndOrder() {
    var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3"]
    #expect(headers["a"] == "1")
    #expect(headers.values(for: "A") == ["1", "3"])
    headers["A"] = "9"
    #expect(headers.fields.map(\.name) == ["A", "b"])
    #expect(headers["a"] == "9")
    headers["B"] = nil
    #expect(headers.fields.map(\.name) == ["A"])
  }

  @Test("E3: additional headers replace the defaults of the same name")
  func additionalHeaders() async throws {
    let transport = RecordingTransport(json: heroJSON)
    let client = try ApolloClient.testing(transport)
    _ = try await client.fetch(
      query: HeroQuery(), cachePolicy: .networkOnly,
      configuration: RequestConfiguration(additionalHeaders: ["ACCEPT": "application/json", "X-Team": "books"]))
    let request = try #require(transport.requests.first)
    #expect(request.headers.values(for: "accept") == ["application/json"])
    #expect(request.headers["x-team"] == "books")
    #expect(request.headers["content-type"] == "application/json")
  }

  @Test("E1: the body's members are sorted, and the Accept header says what can be read")
  func wireFormat() async throws {
    let transport = RecordingTransport(json: heroJSON)
    _ = try await ApolloClient.testing(transport).fetch(
      query: HeroQuery(), cachePolicy: .networkOnly,
      configuration: RequestConfiguration(wireOptions: WireOptions(completesDocuments: false)))
    let request = try #require(transport.requests.first)
    #expect(request.httpMethod == "POST")
    #expect(
      request.httpBody.map { String(decoding: $0, as: UTF8.self) }
        == #"{"operationName":"Hero","query":"query Hero { hero { name } }","variables":{}}"#)
    #expect(
      request.headers["Accept"]
        == "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json")
  }
}
