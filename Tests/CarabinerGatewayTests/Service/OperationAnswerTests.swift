import Carabiner
import CarabinerWire
import FoundationEssentials
import Logging
import NIOCore
import ScriptedServer
import Testing

@testable import CarabinerGateway

/// Gives each operation the same result, with a status that a stage has set.
private struct FixedRunner: OperationRunner {
  let status: Int
  let executor: any TaskExecutor = globalConcurrentExecutor
  let connectionInitHeaders = HeaderSelection([])

  func begin(
    _ operation: DynamicOperation, headers: HTTPHeaders, requestID: String, client: String, path: String,
    forwarded: ForwardedFields?, trace: RequestTrace?, sending: SendingWatch?, takesPassedBody: Bool
  ) throws -> RunningOperation {
    let head = HTTPURLResponse(url: URL(filePath: "/"), statusCode: status, headers: ["Vary": "Origin"])
    let body = try ResponseBody(Data(#"{"data":{"a":1}}"#.utf8))
    return RunningOperation(
      results: PullStream(GraphQLResponse(body: body, httpResponse: head)), generation: 1,
      returnedHeaders: HeaderSelection(["vary"]), ended: { _ in })
  }

  func culprit(of error: any Error) -> String? { nil }
}

/// Responses to operations over a loopback connection.
@Suite("Answers to operations")
struct OperationAnswerTests {
  private func gateway(status: Int = 200) async throws -> LocalGateway {
    let limits = GatewayLimits.untimed
    return try await LocalGateway(
      OperationService(
        settings: CurrentSettings(limits: limits), runner: FixedRunner(status: status), metrics: GatewayMetrics(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
  }

  private static let query = #"{"query":"{ a }"}"#

  private static func post(_ fields: String) -> String {
    "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(query.utf8.count)\r\n\(fields)\r\n\(query)"
  }

  @Test(
    "data has the status that a stage has set, if that is one of success and has a body",
    arguments: [
      (200, 200), (203, 203), (418, 200), (204, 200), (205, 200), (304, 200), (100, 200), (101, 200), (0, 200), (999, 200),
    ])
  func status(_ status: Int, _ answered: Int) async throws {
    let gateway = try await gateway(status: status)
    let request = Self.post("Accept: application/graphql-response+json\r\n")
    let (text, _) = try await gateway.exchange(request + request.replacing("Host: a", with: "Host: a\r\nConnection: close"))
    let answers = text.components(separatedBy: "HTTP/1.1 ").dropFirst()
    #expect(answers.count == 2, "\(text)")
    for answer in answers {
      #expect(answer.hasPrefix("\(answered) ") && answer.hasSuffix("\r\n\r\n{\"data\":{\"a\":1}}"), "\(text)")
    }
  }

  @Test("answers to operations vary with Accept, beside what the upstream says, and others do not (RFC 9110, 12.5.5)")
  func vary() async throws {
    let gateway = try await gateway()
    for fields in ["", "Accept: text/html\r\n"] {
      let (text, _) = try await gateway.exchange(Self.post("Connection: close\r\n\(fields)"))
      let values = text.matches(of: /Vary: (.*)\r\n/).map { String($0.1) }
      #expect(values == (fields.isEmpty ? ["Origin", "Accept"] : ["Accept"]), "\(text)")
    }
    let (health, _) = try await gateway.exchange("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    #expect(!health.contains("Vary"))
  }

  @Test("HEAD of an operation is answered as GET, without the body (RFC 9110, 9.3.2)")
  func head() async throws {
    let gateway = try await gateway()
    func exchange(_ method: String) async throws -> String {
      try await gateway.exchange(
        "\(method) /graphql?query=%7Ba%7D HTTP/1.1\r\nHost: a\r\nConnection: close\r\nApollo-Require-Preflight: 1\r\n\r\n"
      ).text
    }
    let (get, head) = (try await exchange("GET"), try await exchange("HEAD"))
    #expect(get.hasPrefix("HTTP/1.1 200") && get.hasSuffix("\r\n\r\n{\"data\":{\"a\":1}}"), "\(get)")
    #expect(head.hasPrefix("HTTP/1.1 200") && head.hasSuffix("\r\n\r\n") && head.contains("Content-Length: 16\r\n"), "\(head)")
  }

  @Test("a body in a content coding is refused with 415 and a hint to send it without (RFC 9110, 15.5.16)")
  func contentCoding() async throws {
    let gateway = try await gateway()
    let (gzip, _) = try await gateway.exchange(Self.post("Connection: close\r\nContent-Encoding: gzip\r\n"))
    #expect(gzip.hasPrefix("HTTP/1.1 415") && gzip.contains("Accept-Encoding: identity"), "\(gzip)")
    let (identity, _) = try await gateway.exchange(Self.post("Connection: close\r\nContent-Encoding: identity\r\n"))
    #expect(identity.hasPrefix("HTTP/1.1 200"), "\(identity)")
  }
}
