extension Catalog {
  static let loadChecks: [Check] = [.ld01, .ld03]
}
