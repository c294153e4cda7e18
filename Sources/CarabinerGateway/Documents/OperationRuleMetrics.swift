/// Counts the decisions of the rules for operations.
final class OperationRuleMetrics: Sendable {
  /// How the list of operations was applied to an operation.
  enum Listing: String, CaseIterable, Sendable {
    case listed
    /// It is not listed and ran, because the list only audits.
    case unlisted
    case refused
  }

  private let listings = Listing.allCases.map { _ in AtomicCount() }
  private let refusals = OperationLimit.allCases.map { _ in AtomicCount() }
  private let warnings = OperationLimit.allCases.map { _ in AtomicCount() }

  func looked(_ listing: Listing) {
    for (index, other) in Listing.allCases.enumerated() where other == listing { listings[index].add() }
  }

  func exceeded(_ limit: OperationLimit, isRefused: Bool) {
    for (index, other) in OperationLimit.allCases.enumerated() where other == limit {
      (isRefused ? refusals : warnings)[index].add()
    }
  }

  func write(to text: inout some MetricSink) {
    let lists = "carabiner_operation_list_total"
    text.family(lists, .counter, "Operations that were looked up in the list of operations, by result.")
    for (listing, count) in zip(Listing.allCases, listings) {
      text.sample(lists, [("result", listing.rawValue)], Double(count.value))
    }
    let limits = "carabiner_operation_limits_exceeded_total"
    text.family(limits, .counter, "Operations above a limit, by limit and by whether they were refused or ran with a warning.")
    for (index, limit) in OperationLimit.allCases.enumerated() {
      text.sample(limits, [("limit", limit.rawValue), ("outcome", "refused")], Double(refusals[index].value))
      text.sample(limits, [("limit", limit.rawValue), ("outcome", "warned")], Double(warnings[index].value))
    }
  }
}
