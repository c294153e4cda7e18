internal import CCarabiner
internal import CarabinerHost
internal import CarabinerWire

extension Check {
  static let ds04 = Check(
    "DS04", level: 3, "describes its configuration by a schema that holds",
    page: Page(
      rule: "config_schema, if there is one, is a JSON Schema 2020-12, and what it gives as `default` is valid by it.",
      reason: """
        Hosts check a manifest by the schema before any code of the plugin runs, and write configurations for people from its defaults. One
        that is broken refuses every configuration, or accepts all.
        """,
      example: #"{"type":"object","properties":{"depth":{"type":"integer","default":"10"}}}"#,
      remedy: #"{"type":"object","properties":{"depth":{"type":"integer","default":10}}}"#),
    .loading { trial in
      var schemas = 0
      for item in unsafe try trial.items(of: trial.table()) {
        let copy = unsafe item.table
        guard let pointer = unsafe copy.config_schema else { continue }
        let id = unsafe trial.text(copy.id) ?? ""
        schemas += 1
        guard let text = unsafe String(validatingCString: pointer), let json = try? JSONValue(parsing: text) else {
          trial.notes.fail("its config_schema is no JSON text in UTF-8", at: id)
          continue
        }
        do {
          let schema = try CompiledSchema(json)
          for problem in DefaultsReview.problems(of: json, schema) { trial.notes.fail(problem, at: id) }
        } catch {
          trial.notes.fail("its config_schema is no JSON Schema 2020-12: \(error)", at: id)
        }
      }
      if schemas == 0 { throw TrialNotes.Skip("it has no config_schema") }
    })
}

/// Holds the defaults of a schema against the schema itself.
private enum DefaultsReview {
  static func problems(of json: JSONValue, _ schema: CompiledSchema) -> [String] {
    if let whole = json["default"] { return schema.violations(in: whole).map { "its default configuration is not valid: \($0)" } }
    var problems: [String] = []
    for (name, property) in json["properties"]?.object?.members ?? [] {
      guard let value = property["default"] else { continue }
      // The other members may be required; only what is said of this one counts.
      let violations = schema.violations(in: .object(JSONObject([(name, value)]))).filter { $0.pointer.components.first == name }
      problems += violations.map { "the default of \(name) is not valid: \($0)" }
    }
    return problems
  }
}
