internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire
internal import Foundation

/// What became of a reload.
struct ReloadReport: Sendable {
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
  let generation: UInt64
  /// What is different in the new manifest, or would have been.
  let difference: ManifestDifference?
  let duration: Duration
  let date = Date()

  /// Whether what was asked for is done or begun.
  var isAccepted: Bool {
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

  private var problems: [String] {
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
  var text: String { ReloadCommand.text(json) }
}

extension Duration {
  /// The same in milliseconds.
  var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
