extension Catalog {
  static let limitChecks: [Check] = [.hi01, .hi02, .hi03, .hi04, .hi05, .hi06, .hi07]
}
