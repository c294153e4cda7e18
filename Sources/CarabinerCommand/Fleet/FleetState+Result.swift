internal import CarabinerFleet
internal import CarabinerWire

extension FleetState {
  /// The name of the candidate at the beginning of a result.
  var label: String { "the candidate \(candidate.map { "\($0.id)" } ?? "")" }
}

extension JSONValue {
  /// The result of a command that changed the roll-out of a candidate.
  static func changed(_ state: FleetState, by action: String, _ revision: Int64) -> JSONValue {
    [
      "ok": true, "effect": .string(action), "manifest": state.candidate.map { .string("\($0.id)") } ?? .null,
      "revision": .number(JSONNumber(Int(revision))),
    ]
  }
}
