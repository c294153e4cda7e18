extension Catalog {
  static let symbolChecks: [Check] = [.sy01]
}
