internal import Synchronization

/// The findings of a running check, in order.
final class TrialNotes: Sendable {
  /// A check does not apply.
  struct Skip: Error {
    let reason: String
    /// Whether no instance of the plugin could be created, so that the rule was not tested.
    var hasNoInstance = false

    init(_ reason: String) { self.reason = reason }
  }

  /// How many findings one check keeps, because a bad plugin breaks a rule thousands of times.
  static let maximumFindings = 50

  let check: String
  private let list = Mutex<[Finding]>([])

  init(check: String) { self.check = check }

  var findings: [Finding] { list.withLock(\.self) }

  func add(_ finding: Finding) {
    let finding = finding.withExchange
    list.withLock { $0.note(finding, atMost: Self.maximumFindings) }
  }

  /// The rule is broken.
  func fail(_ message: String, at place: String = "") { add(Finding(check, .failure, message, place: place)) }

  /// The rule is not broken, but there is a risk.
  func warn(_ message: String, at place: String = "") { add(Finding(check, .warning, message, place: place)) }

  /// Notes a broken rule unless a condition holds.
  func expect(_ holds: Bool, _ message: @autoclosure () -> String, at place: String = "") {
    if !holds { fail(message(), at: place) }
  }
}
