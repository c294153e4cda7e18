extension Catalog {
  static let symbolChecks: [Check] = [.sy01, .sy02, .sy03, .sy04, .sy05, .sy06, .sy07, .sy08, .sy09]
}
