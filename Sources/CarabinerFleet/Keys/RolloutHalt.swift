package import CarabinerWire

/// The value of the key `halt/`: the author and the reason of a candidate's halt (`fleet.12`).
package struct RolloutHalt: FleetValue {
  package static let label = "the halt of a candidate"
  package static let maximumBytes = 256 << 10
  private static let maximumReason = 500
  private static let maximumFailures = 100

  /// The party that halted it.
  package enum Author: Sendable, Hashable {
    case node(NodeName)
    /// A person, with `carabiner fleet halt`.
    case `operator`
  }

  /// Nil if the halt does not say it.
  package var author: Author?
  /// The reason that the operator gave; nil for none.
  package var reason: String?
  /// The nodes that failed, with their reasons.
  package var failures: [String: String]

  package init(by author: Author?, reason: String? = nil, failures: [String: String] = [:]) {
    self.author = author
    self.reason = reason
    self.failures = failures
  }

  package init(_ json: FleetObject) throws(FleetError) {
    switch try json.text("by") {
    case "operator"?: author = .operator
    case "node"?: author = try json.text("node").flatMap { NodeName($0) }.map { .node($0) }
    default: author = nil
    }
    reason = try json.text("reason")
    failures = try json.texts("nodes", atMost: Self.maximumFailures)
  }

  package var json: JSONValue {
    var json = JSONObject()
    switch author {
    case .operator?: json["by"] = "operator"
    case .node(let name)?:
      json["by"] = "node"
      json["node"] = .string("\(name)")
    case nil: break
    }
    if let reason { json["reason"] = .text(reason, atMost: Self.maximumReason) }
    let some = failures.sorted { $0.key < $1.key }.prefix(Self.maximumFailures)
    json["nodes"] = .object(
      JSONObject(some.map { (key: String($0.key.prefix(NodeName.maximumBytes)), value: .text($0.value, atMost: 200)) }))
    return .object(json)
  }
}
