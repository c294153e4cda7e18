import Carabiner
import CarabinerWire
import Logging
import NIOCore
import NIOHTTP1
import TestTools
import Testing

@testable import CarabinerGateway

/// Requests of pages over a loopback connection.
@Suite("Requests from pages of other origins")
struct CrossOriginTests {
  private static let query = #"{"query":"{ a }"}"#

  private static func rule(
    _ origins: String..., headers: [String]? = nil, exposed: [String] = [], credentials: Bool = false
  ) -> CrossOriginRule {
    CrossOriginRule(
      origins: origins.compactMap { OriginPattern($0) }, headers: headers, exposed: exposed, allowsCredentials: credentials,
      maximumAge: .seconds(600))
  }

  private func gateway(
    _ rule: CrossOriginRule?, limits: GatewayLimits = .untimed, _ runner: ScriptedRunner? = nil
  ) async throws -> LocalGateway {
    let policies = CurrentPolicy()
    policies.set(rule.map { ClientPolicy(crossOrigin: $0) })
    return try await LocalGateway(
      OperationService(
        settings: CurrentSettings(limits: limits), runner: runner ?? ScriptedRunner(#"{"data":{"a":1}}"#), policies: policies,
        metrics: GatewayMetrics(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
      limits: limits)
  }

  private func post(_ gateway: LocalGateway, _ fields: String...) async throws -> String {
    let head = (["POST /graphql HTTP/1.1", "Host: a", "Connection: close", "Content-Type: application/json"] + fields)
    return try await gateway.exchange(
      head.joined(separator: "\r\n") + "\r\nContent-Length: \(Self.query.utf8.count)\r\n\r\n\(Self.query)"
    ).text
  }

  private func preflight(_ gateway: LocalGateway, path: String = "/graphql", _ fields: String...) async throws -> String {
    let head = (["OPTIONS \(path) HTTP/1.1", "Host: a", "Connection: close"] + fields)
    return try await gateway.exchange(head.joined(separator: "\r\n") + "\r\n\r\n").text
  }

  private func fields(_ text: String) -> [String] {
    text.split(separator: "\r\n").map(String.init).filter { $0.hasPrefix("Access-Control") || $0.hasPrefix("Vary") }.sorted()
  }

  @Test("a refusal of a head above the limits can be read by the page that sent it", arguments: [1, 7, 1000, 1 << 20])
  func largeHead(_ size: Int) async throws {
    var limits = GatewayLimits.untimed
    (limits.maximumHeadBytes, limits.maximumHeadFields) = (2000, 20)
    let policies = CurrentPolicy()
    policies.set(ClientPolicy(crossOrigin: Self.rule("https://a.test")))
    let service = OperationService(
      settings: CurrentSettings(limits: limits), runner: ScriptedRunner(), policies: policies, metrics: GatewayMetrics(),
      logger: Logger(label: "test"))
    for more in [["Cookie: \(String(repeating: "c", count: 3000))"], (0..<30).map { "X-\($0): a" }] {
      let gateway = try EmbeddedGateway(service, limits: limits)
      let fields = ["POST /graphql HTTP/1.1", "Host: a", "origin:  https://a.test "] + more
      var rest = Substring(fields.joined(separator: "\r\n") + "\r\n\r\n")
      while !rest.isEmpty {
        try gateway.send(String(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      let text = try gateway.received()
      #expect(text.hasPrefix("HTTP/1.1 431"), "\(text)")
      #expect(self.fields(text) == ["Access-Control-Allow-Origin: https://a.test", "Vary: Origin"], "\(text)")
    }
  }

  @Test("a flood of preflights takes no place of an operation, and each is answered", .rule("gateway.19"))
  func flood() async throws {
    var limits = GatewayLimits.untimed
    (limits.maximumConcurrentOperations, limits.maximumWaitingOperations) = (1, 1)
    let gateway = try await gateway(Self.rule("https://a.test"), limits: limits)
    let preflight =
      "OPTIONS /graphql HTTP/1.1\r\nHost: a\r\nOrigin: https://a.test\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    let flood = String(repeating: preflight, count: 500)
    async let answers = gateway.exchange(flood + preflight.replacing("Host: a", with: "Host: a\r\nConnection: close"))
    for _ in 0..<20 { #expect(try await post(gateway, "Origin: https://a.test").hasPrefix("HTTP/1.1 200")) }
    #expect(try await answers.text.matches(of: /HTTP\/1.1 204/).count == 501)
  }

  @Test("a preflight from a listed origin gets 204, and one from another origin 403 ORIGIN_REFUSED", .rule("gateway.19"))
  func preflights() async throws {
    let gateway = try await gateway(Self.rule("https://a.test", "https://*.b.test", credentials: true))
    for origin in ["https://a.test", "https://x.y.b.test"] {
      let text = try await preflight(
        gateway, "Origin: \(origin)", "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: content-type,x-tenant")
      #expect(text.hasPrefix("HTTP/1.1 204") && text.hasSuffix("\r\n\r\n"), "\(text)")
      #expect(
        fields(text) == [
          "Access-Control-Allow-Credentials: true", "Access-Control-Allow-Headers: content-type, x-tenant",
          "Access-Control-Allow-Methods: GET, HEAD, POST", "Access-Control-Allow-Origin: \(origin)",
          "Access-Control-Max-Age: 600",
          "Vary: Accept", "Vary: Access-Control-Request-Headers", "Vary: Origin",
        ])
    }
    for origin in ["Origin: https://b.test", "Origin: null", "Origin: https://a.test\r\nOrigin: https://a.test"] {
      let text = try await preflight(gateway, origin, "Access-Control-Request-Method: POST")
      #expect(text.hasPrefix("HTTP/1.1 403") && text.contains(#""code":"ORIGIN_REFUSED""#), "\(text)")
      #expect(fields(text) == ["Vary: Accept", "Vary: Origin"])
    }
  }

  @Test(
    "the response to a POST carries the allow fields for a listed origin only, and always varies with Origin", .rule("gateway.19")
  )
  func posts() async throws {
    let gateway = try await gateway(Self.rule("https://a.test", exposed: ["x-cache", "x-request-id"]))
    let allowed = try await post(gateway, "Origin: https://a.test")
    #expect(allowed.hasPrefix("HTTP/1.1 200"))
    #expect(
      fields(allowed) == [
        "Access-Control-Allow-Origin: https://a.test", "Access-Control-Expose-Headers: x-cache, x-request-id", "Vary: Accept",
        "Vary: Origin",
      ])
    for other in ["Origin: https://b.test", "X-None: 1"] {
      let text = try await post(gateway, other)
      #expect(text.hasPrefix("HTTP/1.1 200") && fields(text) == ["Vary: Accept", "Vary: Origin"], "\(text)")
    }
  }

  @Test("with the origin * alone, every page is allowed and responses do not vary with Origin", .rule("gateway.19"))
  func universal() async throws {
    let gateway = try await gateway(Self.rule("*", headers: ["content-type"]))
    let text = try await post(gateway, "Origin: https://b.test")
    #expect(fields(text) == ["Access-Control-Allow-Origin: *", "Vary: Accept"])
    let asked = try await preflight(
      gateway, "Origin: null", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-other")
    #expect(asked.hasPrefix("HTTP/1.1 204"))
    #expect(asked.contains("Access-Control-Allow-Headers: content-type\r\n") && !asked.contains("x-other"))
  }

  @Test("without serve.cors, OPTIONS is 405 and no response has a field for browsers", .rule("gateway.19"))
  func unconfigured() async throws {
    let gateway = try await gateway(nil)
    let text = try await preflight(gateway, "Origin: https://a.test", "Access-Control-Request-Method: POST")
    #expect(text.hasPrefix("HTTP/1.1 405") && fields(text) == ["Vary: Accept"], "\(text)")
    #expect(fields(try await post(gateway, "Origin: https://a.test")) == ["Vary: Accept"])
  }

  @Test("OPTIONS without Access-Control-Request-Method is not a preflight and gets 405", .rule("gateway.19"))
  func plainOptions() async throws {
    let gateway = try await gateway(Self.rule("https://a.test"))
    let text = try await preflight(gateway, "Origin: https://a.test")
    #expect(text.hasPrefix("HTTP/1.1 405") && text.contains("Access-Control-Allow-Origin: https://a.test\r\n"), "\(text)")
  }

  @Test("a preflight counts for no rate, and a 429 and a 503 carry the allow fields", .rule("gateway.19"))
  func refusals() async throws {
    var limits = GatewayLimits.untimed
    limits.rate = RequestRate("1/h")
    let limited = try await gateway(Self.rule("https://a.test"), limits: limits)
    for _ in 0..<5 {
      let text = try await preflight(limited, "Origin: https://a.test", "Access-Control-Request-Method: POST")
      #expect(text.hasPrefix("HTTP/1.1 204"))
    }
    #expect(try await post(limited, "Origin: https://a.test").hasPrefix("HTTP/1.1 200"))
    let refused = try await post(limited, "Origin: https://a.test")
    #expect(
      refused.hasPrefix("HTTP/1.1 429") && refused.contains("Access-Control-Allow-Origin: https://a.test\r\n"), "\(refused)")

    var full = GatewayLimits.untimed
    full.maximumConcurrentOperations = 0
    full.maximumWaitingOperations = 0
    let overloaded = try await post(try await gateway(Self.rule("https://a.test"), limits: full), "Origin: https://a.test")
    #expect(
      overloaded.hasPrefix("HTTP/1.1 503") && overloaded.contains("Access-Control-Allow-Origin: https://a.test\r\n"),
      "\(overloaded)")
  }

  @Test("a response to a request that is too large carries the allow fields too", .rule("gateway.19"))
  func tooLarge() async throws {
    var limits = GatewayLimits.untimed
    limits.maximumBodyBytes = 4
    let gateway = try await gateway(Self.rule("https://a.test"), limits: limits)
    let text = try await post(gateway, "Origin: https://a.test")
    #expect(text.hasPrefix("HTTP/1.1 413") && text.contains("Access-Control-Allow-Origin: https://a.test\r\n"), "\(text)")
    let other = try await post(gateway, "Origin: https://b.test")
    #expect(other.hasPrefix("HTTP/1.1 413") && fields(other) == ["Vary: Origin"], "\(other)")
  }

  @Test(
    "a page of a listed origin may open a WebSocket, without its cookies unless credentials are allowed", .rule("gateway.19"),
    arguments: [false, true])
  func webSockets(credentials: Bool) throws {
    let policies = CurrentPolicy()
    policies.set(ClientPolicy(crossOrigin: Self.rule("https://a.test", credentials: credentials)))
    let limits = GatewayLimits.untimed
    let service = SocketService(
      settings: CurrentSettings(limits: limits), runner: ScriptedRunner(), policies: policies,
      gate: OperationGate(OperationRuleMetrics(), logger: Logger(label: "test")), admission: Admission(limits),
      metrics: GatewayMetrics(), tracing: nil, logger: Logger(label: "test"),
      redact: { $0 })
    func cookie(_ origin: String) throws -> String? {
      let fields: NIOHTTP1.HTTPHeaders = [
        "Host": "a", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": "graphql-transport-ws", "Cookie": "session=1",
        "Origin": origin,
      ]
      let head = try RequestHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/graphql", headers: fields))
      let upgrade = try service.accept(
        GatewayRequest(head: head, body: ByteBuffer(), origin: RequestOrigin(client: "192.0.2.1")), at: "/graphql")
      let handler = upgrade.handlers(OpenConnections(unsent: UnsentTotal(limits))).last as? SocketHandler
      return try #require(handler).headers["cookie"]
    }
    #expect(try cookie("https://a.test") == (credentials ? "session=1" : nil))
    // The gateway's own host is always allowed.
    #expect(try cookie("http://a") == "session=1")
    let refusal = #expect(throws: RequestRefusal.self) { try cookie("https://b.test") }
    #expect(refusal?.status == 403)
  }
}
