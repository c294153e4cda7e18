extension Catalog {
  static let loadChecks: [Check] = [.ld01, .ld02, .ld03, .ld04, .ld05, .ld06, .ld07, .ld08, .ld09, .ld10, .ld11]
}
