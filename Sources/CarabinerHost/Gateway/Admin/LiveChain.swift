internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerGateway
internal import CarabinerManifest
internal import CarabinerProvider
internal import CarabinerWire
internal import Foundation

/// The stages of an operation in a running generation, with their status and timings.
struct LiveChain: Sendable {
  private let generation: Generation
  private let drawing: ChainDrawing
  private let entries: [EntryStatus]
  private let timings: [StageTimings.Summary]

  init(_ generation: Generation, of operation: String?, _ type: GraphQLOperationType, _ timings: StageTimings) {
    self.generation = generation
    let plan = generation.host.chain.plan(operation, type)
    let isolation = IsolationOverrides(environment: ProcessInfo.processInfo.environment)
    drawing = ChainDrawing(plan, of: operation, type, workers: generation.manifest.workerGroups(isolation))
    // The entries in the operation's plan, including those that are switched off.
    let names = Set(StageKind.allCases.flatMap { plan.stages[$0].map(\.name) })
    entries = generation.host.chain.entries().filter { names.contains($0.name) }
    self.timings = timings.summaries
  }

  /// The plan in the DOT language of Graphviz.
  var dot: String { drawing.dot }

  var json: JSONValue {
    guard var object = drawing.json.object else { return .null }
    object["generation"] = .count(generation.number)
    object["manifest"] = .string(generation.manifest.path)
    object["entries"] = .array(entries.map(\.json))
    object["timings"] = .array(
      timings.map { timing in
        [
          "stage": .string(timing.kind.rawValue), "name": .string(timing.name), "hook": .string(timing.hook),
          "count": .count(timing.count), "seconds": JSONNumber(timing.seconds).map { .number($0) } ?? .null,
        ]
      })
    return .object(object)
  }

  /// The order of the stages, and one line per plugin.
  var text: String {
    let heading =
      "generation \(generation.number) of \(generation.manifest.path.isEmpty ? "no manifest" : generation.manifest.path)"
    return ([heading, drawing.text] + entries.map(line)).joined(separator: "\n")
  }

  private func line(_ entry: EntryStatus) -> String {
    var parts = [
      "sha256 \(entry.digest.map { String($0.prefix(12)) } ?? "-")", "\(entry.callsBegun) calls",
      "\(entry.callsInFlight) under way",
      "\(entry.failures) failed", "\(entry.faults) faults",
    ]
    if entry.readsResults { parts.append("reads results") }
    if entry.retries > 0 { parts.append("\(entry.retries) retries") }
    if let breaker = entry.breaker { parts.append("breaker \(breaker.phase.rawValue)") }
    if let decision = entry.decision { parts.append("\(decision.isEnabled ? "enabled" : "disabled") by \(decision)") }
    parts += timings.filter { $0.name == entry.name && $0.count > 0 }.map { timing in
      "\(timing.hook) \(ShortTime.text(timing.seconds / Double(timing.count)))"
    }
    return "● \(entry.name): \(parts.joined(separator: ", "))"
  }
}
