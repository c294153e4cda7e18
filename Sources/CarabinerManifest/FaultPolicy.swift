/// The effect of a plugin's fault on a request.
///
/// A fault is a breach of the contract that the host detects, or a hook that is pending for longer than its entry's `timeout`. FAIL is
/// an answer and not a fault. Otherwise a client could disable an auth plugin by being rejected repeatedly.
package enum FaultPolicy: Sendable, Hashable {
  /// The request fails.
  case fail
  /// The request continues without the plugin.
  case skip
  /// The request fails. After this many consecutive faults, requests skip the plugin until it works again. A mandatory plugin is not
  /// skipped; instead, requests fail at once.
  case openAfter(Int)
}

extension FaultPolicy {
  /// The numbers of faults that may open a circuit breaker.
  private static let thresholds = 1...1000

  /// The prefix of the number in a manifest.
  private static let openAfterPrefix = "open-after-"

  /// Reads the value of `on-fault`; nil if it is not a valid policy.
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
