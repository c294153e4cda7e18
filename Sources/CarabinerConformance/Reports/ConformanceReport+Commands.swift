internal import Foundation

/// The commands that provoke findings again.
extension ConformanceReport {
  /// The command for a finding; nil if the process of its check did not find it.
  func command(for finding: Finding) -> String? {
    guard let check = Catalog.check(finding.foundBy) else { return nil }
    guard !check.isFuzzing else { return command(forCaseIn: finding.place) }
    return command(Provocation(rule: finding.check, check: check.id, exchange: finding.exchange, seed: seed).name)
  }

  /// The command for the unexpected end of a check; nil if it ended as usual.
  func command(forEndOf outcome: CheckOutcome) -> String? {
    guard outcome.hasDied else { return nil }
    guard !outcome.check.isFuzzing else { return command(forCaseIn: outcome.status.place) }
    let id = outcome.check.id
    return command(Provocation(rule: id, check: id, exchange: outcome.exchange, seed: seed).name)
  }

  /// The check and the exchange of a finding, and its command.
  func origin(of finding: Finding) -> String? {
    command(for: finding).map { Self.origin(finding.foundBy, finding.exchange, $0) }
  }

  /// The exchange in which a check ended unexpectedly, and its command.
  func origin(ofEndOf outcome: CheckOutcome) -> String? {
    command(forEndOf: outcome).map { Self.origin(outcome.check.id, outcome.exchange, $0) }
  }

  private static func origin(_ check: String, _ exchange: Int, _ command: String) -> String {
    "found by \(check)\(exchange > 0 ? ", exchange \(exchange)" : ""): \(command)"
  }

  private func command(forCaseIn text: String) -> String? {
    FuzzCase.number(in: text, seed: seed).map { command(FuzzCase(seed: seed, number: $0).name) }
  }

  private func command(_ name: String) -> String {
    (["carabiner", "conform", "--reproduce", name] + options + [plugin]).map(Self.quoted).joined(separator: " ")
  }

  /// A word as a shell reads it.
  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "/-._:,=+@%".utf8.contains(byte)
        }
      }
    return isPlain ? word : "'\(word.replacing("'", with: #"'\''"#))'"
  }
}
