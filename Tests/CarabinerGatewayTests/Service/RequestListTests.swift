import Carabiner
import CarabinerWire
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarabinerGateway

@Suite("Lists of requests")
struct RequestListTests {
  /// Answers each operation with its document.
  private static func echo() -> ScriptedRunner {
    ScriptedRunner { operation in
      PullStream(elements: [try GraphQLResponse(json: ["data": ["ran": .string(operation.document)]])])
    }
  }

  private static let limits: GatewayLimits = {
    var limits = GatewayLimits()
    limits.maximumBatch = 4
    return limits
  }()

  private func answer(
    _ body: String, accept: String? = nil, runner: ScriptedRunner = echo(), policies: CurrentPolicy = CurrentPolicy()
  ) async throws -> OperationChannel.Answer {
    let connection = try await OperationChannel(runner, limits: Self.limits, policies: policies)
    return try await connection.answer(body: body, accept: accept)
  }

  @Test(
    "a refused entry is an error in its place, and the other entries run",
    arguments: [
      (#"{"query":"{ a("}"#, "GRAPHQL_PARSE_FAILED"),
      (#"{"query":"query A { a }","operationName":"B"}"#, "OPERATION_RESOLUTION_FAILURE"),
      (#"{"query":"{ a { b { c } } }"}"#, "MAX_DEPTH_LIMIT"),
      (#"{"query":"{ __schema { types { name } } }"}"#, "INTROSPECTION_DISABLED"),
      ("{}", "BAD_REQUEST"), ("7", "BAD_REQUEST"), ("null", "BAD_REQUEST"), (#"{"query":"{ a }","variables":[]}"#, "BAD_REQUEST"),
      (#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#, "PERSISTED_QUERY_NOT_SUPPORTED"),
      (#"{"query":"subscription { a }"}"#, "NOT_ACCEPTABLE"),
    ])
  func refusedEntry(entry: String, code: String) async throws {
    let policies = CurrentPolicy()
    var limits = OperationLimits()
    limits.depth = 2
    policies.set(ClientPolicy(operations: OperationRules(list: nil, limits: limits, allowsIntrospection: false)))
    let runner = Self.echo()
    let answer = try await answer(#"[{"query":"{ first }"},\#(entry),{"query":"{ last }"}]"#, runner: runner, policies: policies)
    #expect(answer.status == 200 && answer.contentType == "application/json; charset=utf-8")
    let results = try #require(answer.json?.array, "\(answer.body)")
    try #require(results.count == 3)
    #expect(results[0]["data"]?["ran"] == "{ first }")
    #expect(results[2]["data"]?["ran"] == "{ last }")
    #expect(results[1]["errors"]?[0]?["extensions"]?["code"]?.string == code, "\(answer.body)")
    #expect(results[1]["data"] == nil)
    #expect(runner.headers.count == 2)
  }

  @Test(
    "a subscription in a list never runs, whatever the client accepts",
    arguments: [nil, "multipart/mixed;subscriptionSpec=1.0, */*"])
  func subscription(accept: String?) async throws {
    let runner = Self.echo()
    let answer = try await answer(#"[{"query":"subscription { a }"}]"#, accept: accept, runner: runner)
    #expect(answer.json?[0]?["errors"]?[0]?["extensions"]?["code"] == "NOT_ACCEPTABLE", "\(answer.body)")
    #expect(runner.headers.isEmpty)
  }

  @Test("a client that accepts only events gets no list")
  func onlyEvents() async throws {
    let answer = try await answer(#"[{"query":"{ a }"}]"#, accept: "text/event-stream")
    #expect(answer.status == 406 && answer.body.contains("NOT_ACCEPTABLE"), "\(answer.body)")
  }

  @Test("a list that is malformed, empty or too long is refused as a whole", arguments: ["[", "[]", #"[{},{},{},{},{}]"#])
  func refusedList(body: String) async throws {
    let answer = try await answer(body)
    #expect(answer.status == 400 && answer.json?["errors"]?.array?.count == 1, "\(answer.body)")
  }
}
