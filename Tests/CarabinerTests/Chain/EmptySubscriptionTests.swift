import Carabiner
import FoundationEssentials
import Testing

@Suite("Subscriptions without results")
struct EmptySubscriptionTests {
  private func results(_ type: GraphQLOperationType) async throws -> Int {
    let transport = RecordingTransport { request, _ in
      HTTPResponse(
        response: HTTPURLResponse(
          url: request.url, statusCode: 200,
          headers: ["Content-Type": #"multipart/mixed;boundary="b";subscriptionSpec=1.0"#]),
        chunks: PullStream(Data("--b--\r\n".utf8)))
    }
    let operation = DynamicOperation(document: "\(type) { a }", operationName: nil, operationType: type)
    var count = 0
    for try await _ in try ApolloClient.testing(transport).results(of: operation, cachePolicy: .networkOnly) { count += 1 }
    return count
  }

  @Test("a subscription that the server ends before its first result is a success")
  func subscription() async throws {
    #expect(try await results(.subscription) == 0)
  }

  @Test("a query without a result is an error as before")
  func query() async throws {
    let error = await #expect(throws: RequestChainError.self) { try await results(.query) }
    #expect(error?.code == .noResults)
  }
}
