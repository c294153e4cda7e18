extension Catalog {
  static let reloadChecks: [Check] = []
}
