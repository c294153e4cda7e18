internal import CarabinerHost
internal import CarabinerManifest
package import CarabinerWire
internal import Foundation

/// What became of a reload.
package struct ReloadReport: Sendable {
  /// How it ended.
  enum Outcome: Sendable {
    /// The new generation serves.
    case accepted
    /// The new generation is on trial, as this says.
    case onTrial(String)
    /// The generation on trial has taken over.
    case promoted
    /// The generation on trial has gone, and why.
    case rolledBack(String)
    /// The old one goes on, and why.
    case refused([String])
  }

  let outcome: Outcome
  /// Who asked for it.
  let trigger: String
  /// The generation that serves now.
  package let generation: UInt64
  /// What is different in the new manifest, or would have been.
  let difference: ManifestDifference?
  let duration: Duration
  let date = Date()
  /// The error that refused the manifest; nil if none did.
  var error: ServerError?

  /// Whether what was asked for is done or begun.
  package var isAccepted: Bool {
    switch outcome {
    case .accepted, .onTrial, .promoted: true
    case .rolledBack, .refused: false
    }
  }

  private var name: String {
    switch outcome {
    case .accepted: "accepted"
    case .onTrial: "on trial"
    case .promoted: "promoted"
    case .rolledBack: "rolled back"
    case .refused: "refused"
    }
  }

  /// Why the manifest does not serve; empty if it does.
  var problems: [String] {
    switch outcome {
    case .accepted, .onTrial, .promoted: []
    case .rolledBack(let reason): [reason]
    case .refused(let problems): problems
    }
  }

  var json: JSONValue {
    var trial: JSONValue = .null
    if case .onTrial(let kind) = outcome { trial = .string(kind) }
    return [
      "outcome": .string(name), "trial": trial, "trigger": .string(trigger),
      "generation": .number(JSONNumber(Int(generation))), "problems": .array(problems.map { .string($0) }),
      "difference": difference?.json ?? .null, "at": .string(date.ISO8601Format()),
      "milliseconds": .number(JSONNumber(Int(duration.milliseconds))),
    ]
  }

  /// A few lines for people.
  var text: String { Self.text(json) }

  /// The lines of a report in JSON, for people.
  package static func text(_ json: JSONValue) -> String {
    func list(_ name: String) -> [String] { json[name]?.array?.compactMap(\.string) ?? [] }
    let generation = json["generation"]?.int ?? 0
    let changes = list("difference").map { "\n  \($0)" }.joined()
    let difference = changes.isEmpty ? "; nothing is different" : ":\(changes)"
    switch json["outcome"]?.string {
    case "accepted": return "generation \(generation) serves\(difference)"
    case "promoted": return "generation \(generation), which was on trial, serves\(difference)"
    case "on trial": return "generation \(generation) goes on, with a \(json["trial"]?.string ?? "trial") beside it\(difference)"
    case let outcome:
      return "\(outcome ?? "refused"), generation \(generation) goes on:" + list("problems").map { "\n  error: \($0)" }.joined()
        + (changes.isEmpty ? "" : "\nwould have changed:\(changes)")
    }
  }
}

extension Duration {
  /// The same in milliseconds.
  var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
