internal import CarabinerBridge
internal import CarabinerManifest
package import CarabinerWire
internal import Foundation

/// The result of a reload.
package struct ReloadReport: Sendable {
  /// The outcome of a reload.
  enum Outcome: Sendable {
    /// The new generation serves.
    case accepted
    /// The new generation is on trial; the value describes the trial.
    case onTrial(String)
    /// The generation on trial serves now.
    case promoted
    /// The trial ended without success; the value is the reason.
    case rolledBack(String)
    /// The new manifest was refused, and the current generation serves; the values are the reasons.
    case refused([String])
  }

  let outcome: Outcome
  /// The reason for the reload, such as a signal.
  let trigger: String
  /// The number of the serving generation.
  package let generation: UInt64
  /// The changes in the new manifest, also if it was refused.
  let difference: ManifestDifference?
  let duration: Duration
  let date = Date()
  /// The error that refused the manifest; nil if none did.
  var error: ServerError?

  /// Whether the request was carried out or has been started.
  package var isAccepted: Bool {
    switch outcome {
    case .accepted, .onTrial, .promoted: true
    case .rolledBack, .refused: false
    }
  }

  /// Whether a manifest was read, in contrast to the end of a trial.
  package var isReload: Bool {
    switch outcome {
    case .accepted, .onTrial, .refused: true
    case .promoted, .rolledBack: false
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

  /// The reasons why the manifest is not used; empty if it is.
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

  /// The report as text.
  var text: String { Self.text(json) }

  /// The text for a report in JSON.
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
  /// The duration in milliseconds.
  var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
}
