internal import Foundation

/// Formats a duration with three digits and a unit.
package enum ShortTime {
  private static let units: [(seconds: Double, name: String)] = [(1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]

  /// The formatted duration; a dash if there is none.
  package static func text(_ seconds: Double?) -> String {
    guard let seconds, seconds.isFinite, seconds >= 0 else { return "-" }
    let unit = units.first { seconds >= $0.seconds * 0.9995 } ?? (1e-9, "ns")
    let value = seconds / unit.seconds
    let digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
    return "\(String(format: "%.\(digits)f", value)) \(unit.name)"
  }
}
