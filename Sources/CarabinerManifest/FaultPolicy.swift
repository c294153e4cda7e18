/// What becomes of a request in which a plugin broke the contract.
///
/// A fault is what the host finds wrong, and a hook that stays pending for longer than its entry's `timeout`. A FAIL is none: it is an
/// answer, and a client that is refused often must not be able to switch off who refuses it.
package enum FaultPolicy: Sendable, Hashable {
  /// The request fails.
  case fail
  /// The plugin is passed over.
  case skip
  /// The request fails, and after so many in a row the entry is passed over until it works again; one that is mandatory is not passed
  /// over, its requests fail at once.
  case openAfter(Int)
}

extension FaultPolicy {
  /// How many faults in a row may open a circuit breaker.
  private static let thresholds = 1...1000

  /// What stands before the number in a manifest.
  private static let openAfterPrefix = "open-after-"

  /// Reads what a manifest says; nil if it is no policy.
  init?(_ text: String) {
    switch text {
    case "fail": self = .fail
    case "skip": self = .skip
    default:
      let digits = text.dropFirst(Self.openAfterPrefix.count)
      guard text.hasPrefix(Self.openAfterPrefix), digits.first != "0", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let count = Int(digits), Self.thresholds.contains(count)
      else { return nil }
      self = .openAfter(count)
    }
  }
}
