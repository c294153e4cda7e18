package import CarabinerWire

/// The value of the key `stage/`.
extension RolloutStage: FleetValue {
  package static let label = "the stage of a candidate"
  package static let maximumBytes = 1 << 10

  package init(_ json: FleetObject) throws(FleetError) {
    self.init(
      try json.number("stage", in: 1...RolloutPlan.maximumStages), end: try json.place("end"),
      fleet: try json.number("fleet", in: 0...1_000_000))
  }

  package var json: JSONValue {
    let digits = String(end, radix: 16)
    return [
      "stage": .int(number), "end": .string(String(repeating: "0", count: 16 - digits.utf8.count) + digits), "fleet": .int(fleet),
    ]
  }
}
