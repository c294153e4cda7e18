package import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
package import CarabinerManifest
package import CarabinerWire
internal import Foundation

/// A stage plan as text, JSON or DOT. Stages run in reverse order on the way up.
package struct ChainDrawing {
  /// The output formats.
  package enum Format: String, CaseIterable {
    case text, json, dot
  }

  private let plan: StagePlan
  private let operation: String?
  private let type: GraphQLOperationType
  private let callProtocol: Manifest.CallProtocol
  private let workers: [String: String]

  /// - Parameter workers: The groups of the stages that run in workers, by stage.
  package init(
    _ plan: StagePlan, of operation: String?, _ type: GraphQLOperationType, _ callProtocol: Manifest.CallProtocol = .graphQL,
    workers: [String: String] = [:]
  ) {
    self.workers = workers
    self.callProtocol = callProtocol
    self.plan = plan
    self.operation = operation
    self.type = type
  }

  private static let fixed = (request: "toURLRequest", transport: "transport (libcurl)")

  /// The step that makes the HTTP request.
  private var request: String { callProtocol == .graphQL ? Self.fixed.request : callProtocol.rawValue }

  /// The steps on the way down. The cache is read after the GraphQL stages.
  private var down: [(list: String, name: String)] {
    steps("graphql", .graphQL) + steps("cache read", .cache) + [("", request)] + steps("http", .http)
      + [("", Self.fixed.transport)]
  }

  private var up: [(list: String, name: String)] {
    let http = Array(steps("http", .http).reversed())
    let graphQL = Array(steps("graphql", .graphQL).reversed())
    if callProtocol != .graphQL { return http + [("", request)] }
    return http + steps("parsing", .parsing) + graphQL + steps("cache write", .cache)
  }

  /// The name of a step, with its worker if it runs in one.
  private func label(_ name: String) -> String { workers[name].map { "\(name) (worker \($0))" } ?? name }

  private func steps(_ label: String, _ list: StageKind) -> [(list: String, name: String)] {
    plan.active(list).map { (label, $0.name) }
  }

  /// One line per step, and one per stage that was switched on or off.
  package var text: String {
    func lines(_ arrow: String, _ steps: [(list: String, name: String)]) -> [String] {
      steps.map { "\(arrow) \($0.list.padding(toLength: 12, withPad: " ", startingAt: 0))\(label($0.name))" }
    }
    let decided = StageKind.allCases.flatMap { list in
      plan.stages[list].compactMap { stage in
        stage.decision.map { decision in
          "\(decision.isEnabled ? "+" : "-") \(list.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0))\(stage.name) (\(decision))"
        }
      }
    }
    return (lines("▼", down) + lines("▲", up) + decided).joined(separator: "\n")
  }

  /// The JSON that Manifest.md documents.
  package var json: JSONValue {
    var lists = JSONObject()
    for list in StageKind.allCases {
      lists[list.rawValue] = .array(
        plan.stages[list].map { stage in
          [
            "name": .string(stage.name), "origin": .string(stage.origin.rawValue),
            "rule": stage.rule.map { .number(JSONNumber($0)) } ?? .null,
            "worker": workers[stage.name].map { .string($0) } ?? .null,
            "disabledBy": stage.isActive ? .null : stage.decision.map { .string($0.pattern) } ?? .null,
            "decision": stage.decision.map(\.json) ?? .null,
          ]
        })
    }
    return [
      "operation": operation.map { .string($0) } ?? .null, "type": .string(type.rawValue), "stages": .object(lists),
      "down": .array(down.map { .string($0.name) }), "up": .array(up.map { .string($0.name) }),
    ]
  }

  /// The plan in the DOT language of Graphviz.
  package var dot: String {
    let steps = down.enumerated().map { ("d\($0)", $1.name) } + up.enumerated().map { ("u\($0)", $1.name) }
    let nodes = steps.map { "  \($0.0) [label=\"\(label($0.1))\"];" }
    let edges = zip(steps, steps.dropFirst()).map { "  \($0.0) -> \($1.0);" }
    return (["digraph chain {", "  rankdir=TB; node [shape=box];"] + nodes + edges + ["}"]).joined(separator: "\n")
  }
}

extension StageDecision {
  /// The JSON that Manifest.md documents.
  fileprivate var json: JSONValue {
    var object: JSONObject = ["enabled": .bool(isEnabled), "pattern": .string(pattern)]
    switch source {
    case .manifest: object["source"] = "manifest"
    case .breaker: object["source"] = "breaker"
    case .crashLoop: object["source"] = "crash-loop"
    case .revoked: object["source"] = "revoked"
    case .environment(let variable, _):
      object["source"] = "environment"
      object["variable"] = .string(variable)
    case .live(_, let reason, let time):
      object["source"] = "live"
      object["reason"] = .string(reason)
      object["time"] = .number(JSONNumber(Int(time.timeIntervalSince1970 * 1000)))
    }
    return .object(object)
  }
}
