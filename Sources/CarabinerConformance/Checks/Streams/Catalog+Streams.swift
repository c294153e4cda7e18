extension Catalog {
  static let streamChecks: [Check] = [
    .st01, .st02, .st03, .st04, .st05, .st06,
  ]
}
