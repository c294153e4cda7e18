extension Catalog {
  static let descriptorChecks: [Check] = [.ds01, .ds02, .ds03, .ds04, .ds05, .ds06, .ds07]
}
