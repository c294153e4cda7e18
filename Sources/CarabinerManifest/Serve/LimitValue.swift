internal import CarabinerWire

/// The value of a limit.
package enum LimitValue: Sendable, Hashable {
  /// A number, or a number of bytes.
  case number(Int)
  case duration(Duration)
  case truth(Bool)
  case text(String)
  case texts([String])

  /// The value as a manifest would have it.
  package func text(of kind: ServeLimit.Kind) -> String {
    switch self {
    case .number(let number): if case .size = kind { ByteSizeText.print(number) } else { String(number) }
    case .duration(let duration): DurationText.print(duration)
    case .truth(let truth): String(truth)
    case .text(let text): text
    case .texts(let texts): "[\(texts.joined(separator: ", "))]"
    }
  }
}
