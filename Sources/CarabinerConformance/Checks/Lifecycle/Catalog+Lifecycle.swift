extension Catalog {
  static let lifecycleChecks: [Check] = [.lc01, .lc02, .lc03, .lc04, .lc05, .lc06, .lc07, .lc08, .lc09, .lc10]
}
