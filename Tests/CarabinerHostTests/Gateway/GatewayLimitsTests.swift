import CarabinerGateway
import CarabinerHost
import CarabinerManifest
import Testing

@Suite("Limits of a gateway from flags and manifest")
struct GatewayLimitsTests {
  @Test("G15: the default of each key is the default of the gateway", arguments: ServeLimit.allCases)
  func defaults(limit: ServeLimit) {
    #expect(GatewayLimits().value(of: limit) == limit.defaultValue)
  }

  @Test("G15: each key changes its limit and no other", arguments: ServeLimit.allCases)
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
