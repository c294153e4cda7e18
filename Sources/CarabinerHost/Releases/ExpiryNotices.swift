internal import CarabinerRelease

/// Selects the statements for warnings to the operator: from 14 days before they expire, once a day.
struct ExpiryNotices {
  /// The time between the first warning and the expiry of a statement, in seconds.
  static let seconds = 14 * 86_400

  private var notices = DailyNotices<ReleaseStatement>()

  /// The warnings that are due at a time.
  ///
  /// - Parameter statements: The statements of the serving generation.
  mutating func due(_ statements: [ReleaseStatement], at time: ReleaseTime) -> [String] {
    let near = statements.filter { $0.expires <= time.adding(seconds: Self.seconds) }
    return notices.due(near, at: time).map { statement in
      guard statement.subject.kind != .revoked else { return Self.text(ofList: statement, at: time) }
      guard time < statement.expires else {
        return "the statement of \(statement.subject) has expired at \(statement.expires); it serves on, but it cannot be loaded "
          + "again; sign it again and reload"
      }
      return "the statement of \(statement.subject) expires at \(statement.expires), and cannot be loaded after that; sign it "
        + "again and reload"
    }
  }

  private static func text(ofList statement: ReleaseStatement, at time: ReleaseTime) -> String {
    let end = statement.expires
    let effect = time < end ? "expires at \(end), and then" : "has expired at \(end), so"
    return "the list of revocations \(statement.subject) \(effect) "
      + "reloads are refused while it is published; sign the list again, and publish it with carabiner fleet revoke"
  }
}
