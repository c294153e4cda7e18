package import CarabinerWire

/// The value of a key under `taken/`.
extension TrialMark: FleetValue {
  package static let label = "the note of a node about a candidate"
  package static let maximumBytes = 4 << 10

  private static let maximumReason = 500
  private static let maximumEnds = 1_000_000

  private enum Word: String, CaseIterable {
    case trying, serving, failed
  }

  package init(_ json: FleetObject) throws(FleetError) {
    let ends = try json.number("ends", in: 0...Self.maximumEnds, absent: 0)
    self =
      switch try json.word("state", Word.self) {
      case .trying: .trying(ends: ends)
      case .serving: .serving(ends: ends)
      case .failed: .failed(try json.text("reason") ?? "")
      }
  }

  package var json: JSONValue {
    switch self {
    case .trying(let ends): ["state": .string(Word.trying.rawValue), "ends": .int(ends)]
    case .serving(let ends): ["state": .string(Word.serving.rawValue), "ends": .int(ends)]
    case .failed(let reason): ["state": .string(Word.failed.rawValue), "reason": .text(reason, atMost: Self.maximumReason)]
    }
  }
}
