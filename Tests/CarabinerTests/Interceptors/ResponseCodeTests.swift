import Carabiner
import FoundationEssentials
import Testing

@Suite("GraphQL errors with a status of 400 to 499")
struct ResponseCodeTests {
  private func fetch(
    _ body: String, status: Int, type: String, passes: Bool = true
  ) async throws -> GraphQLResponse<HeroQuery> {
    let transport = RecordingTransport { request, _ in
      .json(body, status: status, headers: ["Content-Type": type], to: request)
    }
    let provider = ListProvider(http: [ResponseCodeInterceptor(passesGraphQLErrors: passes)])
    return try await ApolloClient.testing(transport, provider: provider).fetch(query: HeroQuery(), cachePolicy: .networkOnly)
  }

  private static let errors = #"{"errors":[{"message":"no"}]}"#
  private static let long = #"{"data":null,"errors":[{"message":"\#(String(repeating: "x", count: 100_000))"}]}"#

  @Test(
    "they are a result if that is wanted",
    arguments: [
      (errors, 400, "application/json"), (errors, 404, "Application/JSON; charset=utf-8"), (errors, 422, "application/json"),
      (long, 400, "application/json"),
      (#"{"data":{"hero":null},"errors":[{"message":"a"},{"message":"b"}]}"#, 499, "application/json"),
    ])
  func results(_ body: String, _ status: Int, _ type: String) async throws {
    let response = try await fetch(body, status: status, type: type)
    #expect(response.httpResponse?.statusCode == status)
    #expect(response.body.bytes == Data(body.utf8))
    await #expect(throws: ResponseCodeError.self) { try await fetch(body, status: status, type: type, passes: false) }
  }

  @Test(
    "all else is refused as before, with the beginning of its body",
    arguments: [
      (errors, 401, "application/json"), (errors, 403, "application/json"), (errors, 429, "application/json"),
      (errors, 500, "application/json"), (errors, 302, "application/json"), (errors, 400, "text/html"), (errors, 400, ""),
      (#"{"errors":["no"]}"#, 400, "application/json"), (#"{"errors":[]}"#, 400, "application/json"),
      (#"{"errors":{"message":"no"}}"#, 400, "application/json"), (#"{"message":"no"}"#, 400, "application/json"),
      ("<html>", 400, "application/json"), (#"{"data":{"hero":null}}"#, 400, "application/json"),
      (#"{"errors":[{"message":1}]}"#, 400, "application/json"),
    ])
  func refusals(_ body: String, _ status: Int, _ type: String) async throws {
    let error = await #expect(throws: ResponseCodeError.self) { try await fetch(body, status: status, type: type) }
    #expect(error?.response.statusCode == status)
    #expect(error?.body == Data(body.utf8))
  }
}
