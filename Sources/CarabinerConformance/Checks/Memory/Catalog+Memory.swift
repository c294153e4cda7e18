extension Catalog {
  static let memoryChecks: [Check] = [.me01, .me02, .me03, .me04, .me05, .me06, .me07, .me08, .me09, .me10, .me11, .me12, .me13]
}
