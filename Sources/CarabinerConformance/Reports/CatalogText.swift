internal import CarabinerWire

/// The catalog as text and as JSON.
package enum CatalogText {
  /// All checks, a line each, or as JSON.
  package static func list(_ asJSON: Bool) -> String {
    if asJSON {
      let checks = Catalog.checks.map { check -> JSONValue in
        var members: JSONObject = [
          "id": .string(check.id), "level": .number(JSONNumber(check.level)), "title": .string(check.title),
          "isolation": .string((check.crosses ? TrialIsolation.worker : .inProcess).rawValue),
        ]
        if let reason = check.inProcessReason { members["isolationReason"] = .string(reason) }
        return .object(members)
      }
      return String(decoding: JSONValue.array(checks).serialized(pretty: true), as: UTF8.self)
    }
    var lines: [String] = []
    for group in Catalog.groups {
      let checks = Catalog.checks.filter { $0.group == group.letters }
      guard !checks.isEmpty else { continue }
      lines.append("\(group.title)")
      lines += checks.map { "  \($0.id)  level \("\($0.level)".padding(to: 2))  \($0.title)" }
    }
    return lines.joined(separator: "\n")
  }

  /// The page of a check.
  package static func page(of check: Check) -> String {
    """
    \(check.id): \(check.title) (level \(check.level))

    RULE
    \(indented(check.page.rule))

    WHY
    \(indented(check.page.reason))

    EXAMPLE OF A BREACH
    \(indented(check.page.example))

    REMEDY
    \(indented(check.page.remedy))

    WITH --isolation worker
    \(indented(check.inProcessReason.map { "The check runs in its own process: \($0)." } ?? "The check runs the plugin in a worker."))
    """
  }

  private static func indented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
  }
}
