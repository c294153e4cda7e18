/// The name of a finding, which is enough to provoke it again: `SE05:HI02:17:1`.
package struct Provocation: Sendable, Hashable {
  /// The id of the check whose rule is broken.
  package let rule: String
  /// The id of the check that found it.
  package let check: String
  /// The number of the exchange of that check; 0 for all.
  package let exchange: Int
  package let seed: UInt64

  init(rule: String, check: String, exchange: Int, seed: UInt64) {
    self.rule = rule
    self.check = check
    self.exchange = exchange
    self.seed = seed
  }

  package var name: String { "\(rule):\(check):\(exchange):\(seed)" }

  /// Reads a name; nil if the text is not one.
  package init?(_ name: String) {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let exchange = Int(parts[2]), exchange >= 0, let seed = UInt64(parts[3]) else { return nil }
    self.init(rule: parts[0].uppercased(), check: parts[1].uppercased(), exchange: exchange, seed: seed)
  }
}
