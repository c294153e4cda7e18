extension Catalog {
  static let limitChecks: [Check] = [.hi01, .hi02, .hi06]
}
