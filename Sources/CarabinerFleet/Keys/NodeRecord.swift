package import CarabinerWire

/// The value of a key under `nodes/`: what a node reports of itself (`fleet.12`).
package struct NodeRecord: FleetValue {
  package static let label = "the report of a node"
  package static let maximumBytes = 8 << 10
  private static let maximumVersion = 64
  private static let maximumReason = 500

  /// The version of the program.
  package var version: String
  package var state: NodeReport.State
  /// The manifest that it serves; nil if it serves none yet.
  package var serving: CandidateID?
  /// The candidate that the state is about; nil if it is about the stable manifest.
  package var candidate: CandidateID?
  /// The number of its generation.
  package var generation: Int
  /// The time of the last change of state by the node's clock, in seconds since 1970. For people only: clocks are never compared.
  package var since: Int
  /// Why it is in this state; nil if there is nothing to say.
  package var reason: String?

  package init(
    version: String, state: NodeReport.State, serving: CandidateID? = nil, candidate: CandidateID? = nil, generation: Int = 0,
    since: Int, reason: String? = nil
  ) {
    self.version = version
    self.state = state
    self.serving = serving
    self.candidate = candidate
    self.generation = generation
    self.since = since
    self.reason = reason
  }

  package init(_ json: FleetObject) throws(FleetError) {
    version = try json.text("version") ?? ""
    state = try json.word("state", NodeReport.State.self)
    serving = try json.candidate("serving")
    candidate = try json.candidate("candidate")
    generation = try json.number("generation", in: 0...Int.max, absent: 0)
    since = try json.number("since", in: 0...253_402_300_799, absent: 0)
    reason = try json.text("reason")
  }

  package var json: JSONValue {
    var json: JSONObject = [
      "version": .text(version, atMost: Self.maximumVersion), "state": .string(state.rawValue), "serving": .candidate(serving),
      "candidate": .candidate(candidate), "generation": .int(generation), "since": .int(since),
    ]
    if let reason { json["reason"] = .text(reason, atMost: Self.maximumReason) }
    return .object(json)
  }

  /// The part that the rule of the roll-out needs.
  package var report: NodeReport { NodeReport(state, of: candidate) }
}
