extension Catalog {
  static let processChecks: [Check] = [.pr01, .pr02, .pr03]
}
