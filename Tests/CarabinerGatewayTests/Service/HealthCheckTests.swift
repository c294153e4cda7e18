import Logging
import Testing

@testable import CarabinerGateway

@Suite("Health checks")
struct HealthCheckTests {
  @Test(
    "a health check has an answer to GET and HEAD, and 405 to other methods", arguments: ["/healthz", "/readyz"],
    [("GET", 200), ("HEAD", 200), ("POST", 405), ("DELETE", 405), ("OPTIONS", 405)])
  func methods(_ path: String, _ expected: (method: String, status: Int)) throws {
    let limits = GatewayLimits()
    let service = OperationService(
      settings: CurrentSettings(limits: limits), runner: ScriptedRunner(), metrics: GatewayMetrics(),
      logger: Logger(label: "test"))
    let gateway = try EmbeddedGateway(service, limits: limits)
    try gateway.send("\(expected.method) \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    let text = try gateway.received()
    #expect(text.hasPrefix("HTTP/1.1 \(expected.status) "), "\(text)")
    #expect(text.contains("Allow: GET, HEAD\r\n") == (expected.status == 405))
  }
}
