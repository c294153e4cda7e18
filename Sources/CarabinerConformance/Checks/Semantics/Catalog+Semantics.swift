extension Catalog {
  static let semanticsChecks: [Check] = [
    .se01, .se02, .se03, .se04, .se05, .se06, .se07, .se08, .se09, .se10, .se11, .se12, .se13, .se14, .se15,
  ]
}
