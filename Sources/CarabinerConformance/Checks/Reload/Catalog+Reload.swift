extension Catalog {
  static let reloadChecks: [Check] = [.hr01, .hr02, .hr03, .hr04]
}
