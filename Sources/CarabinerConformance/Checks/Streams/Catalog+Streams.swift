extension Catalog {
  static let streamChecks: [Check] = []
}
