extension Catalog {
  static let selfTestChecks: [Check] = [.sf01]
}
