/// Durations in the notation of manifests: `250ms`, `30s`, `1.5m`, `2h`.
package enum DurationText {
  /// The longest duration of a manifest, 30 days.
  package static let maximum = Duration.seconds(30 * 24 * 3600)

  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000),
  ]

  /// Reads a duration.
  ///
  /// - Throws: ``MalformedQuantity`` with the notation to use.
  package static func parse(_ text: String) throws(MalformedQuantity) -> Duration {
    guard let quantity = Quantity(text) else {
      throw MalformedQuantity(description: "\(text.debugDescription) is not a duration; write 250ms, 30s or 2m")
    }
    guard !quantity.unit.isEmpty else {
      throw MalformedQuantity(description: "\(text) has no unit; write \(text)s for seconds, or use ms, m or h")
    }
    guard let unit = units.first(where: { $0.name == quantity.unit }) else {
      throw MalformedQuantity(
        description: "\(String(quantity.unit).debugDescription) is not a unit of time; use ms, s, m or h")
    }
    guard let nanoseconds = quantity.times(unit.nanoseconds), .nanoseconds(nanoseconds) <= maximum else {
      throw MalformedQuantity(description: "\(text) is too long or too fine; at most 30 days in whole nanoseconds are possible")
    }
    return .nanoseconds(nanoseconds)
  }

  /// Writes a duration in the largest unit that gives a whole number; less than a millisecond as a fraction.
  package static func print(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    guard nanoseconds != 0 else { return "0s" }
    if let unit = units.first(where: { nanoseconds % $0.nanoseconds == 0 }) {
      return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
    }
    let fraction = String(String(1_000_000 + nanoseconds % 1_000_000).dropFirst().reversed().drop { $0 == "0" }.reversed())
    return "\(nanoseconds / 1_000_000).\(fraction)ms"
  }
}

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
