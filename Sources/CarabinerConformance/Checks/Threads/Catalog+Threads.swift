extension Catalog {
  static let threadChecks: [Check] = [
    .th01, .th02, .th03, .th04, .th05, .th06, .th07, .th08, .th09,
  ]
}
