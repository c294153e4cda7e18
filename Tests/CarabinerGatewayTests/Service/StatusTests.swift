import Carabiner
import CarabinerWire
import Foundation
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("Statuses of results and refusals")
struct StatusTests {
  private static let newer = "application/graphql-response+json"
  private static let older = "application/json"

  private func answer(
    _ query: String = "{ a }", accept: String?, upstream: (body: String, status: Int) = (#"{"data":{"a":1}}"#, 200)
  ) async throws -> OperationChannel.Answer {
    let runner = ScriptedRunner { _ in PullStream(try GraphQLResponse(upstream.body, status: upstream.status)) }
    return try await OperationChannel(runner).answer(query, accept: accept)
  }

  @Test(
    "the status of a result follows the media type, the upstream's status and whether the operation was executed",
    arguments: [
      (older, #"{"data":{"a":1}}"#, 200, 200), (older, #"{"errors":[{"message":"no"}]}"#, 400, 200),
      (older, #"{"data":null,"errors":[{"message":"no"}]}"#, 200, 200), (newer, #"{"data":{"a":1}}"#, 200, 200),
      (newer, #"{"data":null,"errors":[{"message":"no"}]}"#, 200, 200), (newer, #"{"errors":[{"message":"no"}]}"#, 200, 400),
      (newer, #"{"errors":[{"message":"no"}]}"#, 422, 422),
      (newer, #"{"data":{"a":1},"errors":[{"message":"no"}]}"#, 400, 200),
    ])
  func results(accept: String, body: String, upstream: Int, expected: Int) async throws {
    let answer = try await answer(accept: accept, upstream: (body, upstream))
    #expect(answer.status == expected)
    #expect(answer.json == (try JSONValue(parsing: Array(body.utf8))))
    #expect(answer.contentType == "\(accept); charset=utf-8")
  }

  @Test(
    "a document that cannot be run is 200 for clients of application/json and 400 for those of the newer media type",
    arguments: ["{ a", "fragment F on A { a }", "query A { a } query B { b }"])
  func documents(_ query: String) async throws {
    for (accept, status) in [(nil, 200), (Self.older, 200), (Self.newer, 400)] {
      let answer = try await answer(query, accept: accept)
      #expect(answer.status == status, "\(accept ?? "nothing")")
      #expect(answer.json?["errors"]?[0]?["message"]?.string?.isEmpty == false)
      #expect(answer.json?["data"] == nil)
      #expect(answer.contentType == "\(accept ?? Self.older); charset=utf-8")
    }
  }

  @Test("a subscription without an accepted format is answered with 406", arguments: [older, newer])
  func subscription(_ accept: String) async throws {
    #expect(try await answer("subscription { a }", accept: accept).status == 406)
  }

  @Test("an upstream status that concerns the caller fails the operation and reaches the client", arguments: [401, 403, 429])
  func callerStatuses(_ status: Int) async throws {
    let body = #"{"data":null,"errors":[{"message":"log in","extensions":{"code":"X"}}]}"#
    let head = HTTPURLResponse(
      url: URL(filePath: "/graphql"), statusCode: status, headers: ["Content-Type": "application/json"])
    let runner = ScriptedRunner { _ in .failing(ResponseCodeError(response: head, body: Data(body.utf8))) }
    let answer = try await OperationChannel(runner).answer("{ a }", accept: Self.older)
    #expect(answer.status == status)
    #expect(answer.json == ["errors": [["message": "log in", "extensions": ["code": "X"]]]])
  }

  @Test("all responses have X-Content-Type-Options: nosniff", arguments: ["{ a }", "{ a"])
  func typeIsNotGuessed(_ query: String) async throws {
    #expect(try await answer(query, accept: nil).head.fields.list.values(for: "x-content-type-options") == ["nosniff"])
  }
}
