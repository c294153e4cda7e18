extension Catalog {
  static let lifecycleChecks: [Check] = [.lc01, .lc08]
}
