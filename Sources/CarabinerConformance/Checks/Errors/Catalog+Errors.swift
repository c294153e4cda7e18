extension Catalog {
  static let errorChecks: [Check] = [
    .er01, .er02, .er03, .er04, .er05, .er06, .er07, .er08, .er09, .er10,
  ]
}
