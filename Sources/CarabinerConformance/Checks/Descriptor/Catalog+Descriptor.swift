extension Catalog {
  static let descriptorChecks: [Check] = [.ds02]
}
