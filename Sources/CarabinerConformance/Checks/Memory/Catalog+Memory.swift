extension Catalog {
  static let memoryChecks: [Check] = [.me01, .me02, .me03]
}
