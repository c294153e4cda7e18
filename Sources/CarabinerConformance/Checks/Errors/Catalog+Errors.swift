extension Catalog {
  static let errorChecks: [Check] = []
}
