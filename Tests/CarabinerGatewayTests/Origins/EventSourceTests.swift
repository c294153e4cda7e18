import Carabiner
import CarabinerWire
import Logging
import Testing

@testable import CarabinerGateway

/// Subscriptions by GET, as `EventSource` of browsers sends them.
@Suite("Subscriptions of EventSource")
struct EventSourceTests {
  private func gateway(_ crossOrigin: CrossOriginRule? = nil) async throws -> LocalGateway {
    let policies = CurrentPolicy()
    policies.set(crossOrigin.map { ClientPolicy(crossOrigin: $0) })
    return try await LocalGateway(
      OperationService(
        settings: CurrentSettings(limits: .untimed), runner: ScriptedRunner(#"{"data":{"a":1}}"#, #"{"data":{"a":2}}"#),
        policies: policies, metrics: GatewayMetrics(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
  }

  private func get(
    _ gateway: LocalGateway, _ query: String = "subscription%7Ba%7D", accept: String = "text/event-stream", _ fields: String...
  ) async throws -> String {
    let head = ["GET /graphql?query=\(query) HTTP/1.1", "Host: a.test", "Connection: close", "Accept: \(accept)"] + fields
    return try await gateway.exchange(head.joined(separator: "\r\n") + "\r\n\r\n").text
  }

  private static let cookie = "Cookie: session=1"

  @Test("an EventSource without cookies gets the results of a subscription as events")
  func events() async throws {
    let text = try await get(try await gateway())
    #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("Content-Type: text/event-stream"), "\(text)")
    #expect(text.contains("event: next\ndata: {\"data\":{\"a\":1}}\n\n") && text.contains("event: complete"), "\(text)")
  }

  @Test(
    "with cookies, the browser has to name the gateway's own origin or one that serve.cors lists with credentials",
    arguments: [
      ([cookie, "Sec-Fetch-Site: same-origin"], true), ([cookie, "Origin: https://a.test"], true),
      ([cookie, "Origin: https://app.test"], true), ([cookie, "Apollo-Require-Preflight: 1"], true), ([cookie], false),
      ([cookie, "Sec-Fetch-Site: cross-site"], false), ([cookie, "Origin: https://evil.test"], false),
      ([cookie, "Origin: null"], false),
      (["Origin: https://evil.test"], false), (["Sec-Fetch-Site: cross-site"], false), (["Authorization: Basic QTpC"], false),
      ([cookie, "Origin: https://a.test", "Origin: https://evil.test"], false),
    ])
  func cookies(_ fields: [String], _ isAllowed: Bool) async throws {
    let rule = CrossOriginRule(
      origins: [.exact("https://app.test")], headers: nil, exposed: [], allowsCredentials: true, maximumAge: .zero)
    let head =
      ["GET /graphql?query=subscription%7Ba%7D HTTP/1.1", "Host: a.test", "Connection: close", "Accept: text/event-stream"]
      + fields
    let text = try await gateway(rule).exchange(head.joined(separator: "\r\n") + "\r\n\r\n").text
    #expect(text.hasPrefix("HTTP/1.1 \(isAllowed ? 200 : 400)"), "\(text)")
    #expect(text.contains(#""code":"CSRF""#) != isAllowed, "\(text)")
  }

  @Test("a listed origin without credentials may subscribe without cookies only")
  func withoutCredentials() async throws {
    let rule = CrossOriginRule(
      origins: [.any], headers: nil, exposed: [], allowsCredentials: false, maximumAge: .zero)
    let gateway = try await gateway(rule)
    #expect(
      try await get(gateway, "subscription%7Ba%7D", accept: "text/event-stream", "Origin: https://app.test").hasPrefix(
        "HTTP/1.1 200"))
    let refused = try await get(
      gateway, "subscription%7Ba%7D", accept: "text/event-stream", "Origin: https://app.test", Self.cookie)
    #expect(refused.hasPrefix("HTTP/1.1 400"))
  }

  @Test(
    "queries and mutations of an EventSource are refused, and a subscription whose results are not events",
    arguments: [
      ("%7Ba%7D", "text/event-stream", "CSRF"), ("mutation%7Ba%7D", "text/event-stream", "METHOD_NOT_ALLOWED"),
      ("subscription%7Ba%7D", "application/json", "CSRF"),
      ("subscription%7Ba%7D", "multipart/mixed;subscriptionSpec=1.0", "CSRF"),
    ])
  func others(_ query: String, _ accept: String, _ code: String) async throws {
    let text = try await get(try await gateway(), query, accept: accept)
    #expect(!text.hasPrefix("HTTP/1.1 200") || text.contains(#""errors""#), "\(text)")
    #expect(text.contains(#""code":"\#(code)""#), "\(text)")
  }
}
