extension Catalog {
  static let threadChecks: [Check] = [.th01]
}
