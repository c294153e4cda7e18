internal import CCarabiner
internal import CarabinerHost

extension Check {
  static let ds05 = Check(
    "DS05", level: 3, "declares what its stages can read and change",
    page: Page(
      rule: """
        `needs` and `mutates` hold bits of CRB_PART_* and nothing else; that is a failure. Each part declared is one the stage can have by
        section 4 of carabiner.h: a GraphQL stage has no BODY, a parser changes no HEADERS. A part that never comes is a warning, and so is
        a stage that declares to change results or chunks and has no hook that sees them. To change what one does not read is fine: it
        is write-only.
        """,
      reason: """
        What is declared is copied and kept for the stage at every call, whether it looks at it or not; and where a declaration promises
        a part that never comes, the code behind it waits for nothing.
        """,
      example: """
        static const crb_graphql_stage graphql = {
          .size = sizeof graphql, .needs = CRB_PART_BODY, .mutates = CRB_PART_DATA, .on_request = on_request };
        """,
      remedy: """
        static const crb_graphql_stage graphql = {
          .size = sizeof graphql, .needs = CRB_PART_DOCUMENT | CRB_PART_DATA, .mutates = CRB_PART_JSON,
          .on_request = on_request, .on_result = on_result };
        """),
    .interceptor { trial in
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let unknown = stage.needs.union(stage.mutates).subtracting(Parts(rawValue: 0xFFF))
        trial.notes.expect(
          unknown.isEmpty, "it declares parts nobody knows: bits \(String(unknown.rawValue, radix: 16)) of needs and mutates",
          at: place)
        let known = Parts(rawValue: 0xFFF)
        let unreadable = stage.needs.intersection(known).subtracting(readable(stage.kind))
        if !unreadable.isEmpty { trial.notes.warn("it needs \(names(unreadable)), which such a stage never gets", at: place) }
        let fixed = stage.mutates.intersection(known).subtracting(writable(stage.kind))
        if !fixed.isEmpty { trial.notes.warn("it declares to change \(names(fixed)), which such a stage cannot", at: place) }
        if stage.kind == .graphQL, stage.mutates.contains(.json), unsafe stage.onResult == nil {
          trial.notes.warn("it declares to change results and has no on_result", at: place)
        }
        if stage.kind == .http, stage.mutates.contains(.chunk), unsafe stage.onChunk == nil, unsafe stage.onEnd == nil {
          trial.notes.warn("it declares to change chunks and has no on_chunk", at: place)
        }
      }
    })

  /// The parts that some hook of a stage can read, or that arrive in its events.
  static func readable(_ kind: StageKind) -> Parts {
    parts { part in Hook.allCases.contains { !Contract.rights(part, in: $0, of: kind).isDisjoint(with: [.read, .event]) } }
  }

  /// The parts that some hook of a stage can set, or replace with what it emits.
  static func writable(_ kind: StageKind) -> Parts {
    let isEmitted = { (part: Parts) in
      !part.isDisjoint(with: [.json, .data, .errors, .chunk])
        && Hook.allCases.contains { Contract.emits(results: part != .chunk, in: $0, of: kind) }
    }
    return parts { part in
      isEmitted(part) || Hook.allCases.contains { Contract.rights(part, in: $0, of: kind).contains(.write) }
    }
  }

  private static func parts(where holds: (Parts) -> Bool) -> Parts {
    partNames.indices.map { Parts(rawValue: 1 << UInt32($0)) }.filter(holds).reduce(into: []) { $0.formUnion($1) }
  }

  /// The names of the header, in the order of their bits.
  private static let partNames = [
    "HEADERS", "BODY", "URL", "METHOD", "DOCUMENT", "VARIABLES", "EXTENSIONS", "OPERATION_NAME", "JSON", "DATA", "ERRORS",
    "CHUNK",
  ]

  private static func names(_ parts: Parts) -> String {
    partNames.indices.filter { parts.rawValue >> UInt32($0) & 1 == 1 }.map { partNames[$0] }.joined(separator: ", ")
  }
}
