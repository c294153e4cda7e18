import CarabinerGateway
import CarabinerHost
import CarabinerManifest
import TestTools
import Testing

@Suite("Limits of a gateway from flags and manifest")
struct GatewayLimitsTests {
  @Test("the default of each key is the default of the gateway", .rule("gateway.15"), arguments: ServeLimit.allCases)
  func defaults(limit: ServeLimit) {
    #expect(GatewayLimits().value(of: limit) == limit.defaultValue)
  }

  @Test("each key changes its limit and no other", .rule("gateway.15"), arguments: ServeLimit.allCases)
  func change(limit: ServeLimit) {
    let value: LimitValue =
      switch limit.kind {
      case .size, .count: .number(777)
      case .duration: .duration(.seconds(77))
      case .truth: .truth(limit.defaultValue != .truth(true))
      case .rate: .text("77/m")
      case .headerName: .text("x-user")
      case .origins: .texts(["https://a.test"])
      }
    var values = [limit: value]
    if [.rateBurst, .rateKey].contains(limit) { values[.rate] = .text("5/s") }
    let limits = GatewayLimits().applying(values)
    #expect(limits.value(of: limit) == value)
    let others = ServeLimit.allCases.filter { $0 != limit && ![.rate, .rateBurst, .rateKey].contains($0) }
    for other in others { #expect(limits.value(of: other) == other.defaultValue) }
  }
}
