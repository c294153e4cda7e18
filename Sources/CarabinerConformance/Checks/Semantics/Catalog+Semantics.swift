extension Catalog {
  static let semanticsChecks: [Check] = [.se01]
}
