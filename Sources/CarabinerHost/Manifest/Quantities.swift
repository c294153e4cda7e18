/// Durations and sizes as manifests write them.
package enum Quantity {
  /// "250ms", "30s", "2m"; nil if the text is none.
  package static func duration(_ text: String) -> Duration? {
    guard let (number, unit) = split(text) else { return nil }
    switch unit {
    case "ms": return .milliseconds(number)
    case "s": return .seconds(number)
    case "m": return .seconds(number * 60)
    default: return nil
    }
  }

  /// "512", "256KiB", "64MiB", "1GiB"; nil if the text is none.
  package static func bytes(_ text: String) -> Int? {
    guard let (number, unit) = split(text) else { return nil }
    let factor: Double? =
      switch unit {
      case "", "B": 1
      case "KiB": 1024
      case "MiB": 1024 * 1024
      case "GiB": 1024 * 1024 * 1024
      default: nil
      }
    guard let factor, number * factor < 1e15 else { return nil }
    return Int(number * factor)
  }

  private static func split(_ text: String) -> (Double, String)? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let number = Double(digits), number.isFinite, number < 1e12 else { return nil }
    return (number, String(text.dropFirst(digits.count)))
  }
}

extension Duration {
  /// The duration in seconds.
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
