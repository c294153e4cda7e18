extension Catalog {
  static let performanceChecks: [Check] = [.pf01, .pf02, .pf03]
}
