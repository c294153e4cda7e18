extension Catalog {
  static let fuzzChecks: [Check] = [.fz01]
}
