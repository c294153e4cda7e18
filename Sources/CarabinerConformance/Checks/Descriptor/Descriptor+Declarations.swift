internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire

extension Check {
  static let configurationSchema = Check(
    "DS04", level: 3, "has a valid configuration schema",
    page: Page(
      rule: "If there is a config_schema, it is a JSON Schema 2020-12, and its `default` values are valid.",
      reason: """
        Hosts check a manifest with the schema before any code of the plugin runs, and write sample configurations from its
        defaults. An invalid schema refuses every configuration, or accepts all.
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
          trial.notes.fail("its config_schema is not a JSON text in UTF-8", at: id)
          continue
        }
        do {
          let schema = try CompiledSchema(json)
          for problem in DefaultsReview.problems(of: json, schema) { trial.notes.fail(problem, at: id) }
        } catch {
          trial.notes.fail("its config_schema is not a JSON Schema 2020-12: \(error)", at: id)
        }
      }
      if schemas == 0 { throw TrialNotes.Skip("it has no config_schema") }
    })
}

/// Validates the defaults of a schema with the schema itself.
private enum DefaultsReview {
  static func problems(of json: JSONValue, _ schema: CompiledSchema) -> [String] {
    if let whole = json["default"] { return schema.violations(in: whole).map { "its default configuration is not valid: \($0)" } }
    var problems: [String] = []
    for (name, property) in json["properties"]?.object?.members ?? [] {
      guard let value = property["default"] else { continue }
      // Other members may be required; only violations of this one count.
      let violations = schema.violations(in: .object(JSONObject([(name, value)]))).filter { $0.pointer.components.first == name }
      problems += violations.map { "the default of \(name) is not valid: \($0)" }
    }
    return problems
  }
}

extension Check {
  static let declaredParts = Check(
    "DS05", level: 3, "declares what its stages can read and change",
    page: Page(
      rule: """
        `needs` and `mutates` hold only bits of CRB_PART_*; an unknown bit is a failure. Each declared part is one that the stage
        can have by section 4 of carabiner.h: a GraphQL stage has no BODY, a parser changes no HEADERS and no CHUNK. A part that the
        stage never gets is a warning. A stage that declares to change results or chunks, and has no hook that gets them, is a
        warning too. A stage may change a part that it does not read: the part is then write-only. A stage that looks at the headers
        of a response declares HEADERS in `needs`.
        """,
      reason: """
        The host copies and keeps declared parts at every call, even if the stage does not read them. If the stage never gets a
        declared part, the code for that part never runs. The head of a response has no headers for a stage that does not declare
        them.
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
          unknown.isEmpty,
          "it declares parts that do not exist: bits \(String(unknown.rawValue, radix: 16)) of needs and mutates",
          at: place)
        let known = Parts(rawValue: 0xFFF)
        let unreadable = stage.needs.intersection(known).subtracting(readableParts(of: stage.kind))
        if !unreadable.isEmpty {
          trial.notes.warn("it needs \(names(unreadable)), which a stage of this kind never gets", at: place)
        }
        let fixed = stage.mutates.intersection(known).subtracting(writableParts(of: stage.kind))
        if !fixed.isEmpty {
          trial.notes.warn("it declares to change \(names(fixed)), which a stage of this kind cannot change", at: place)
        }
        if stage.kind == .graphQL, stage.mutates.contains(.json), unsafe stage.onResult == nil {
          trial.notes.warn("it declares to change results and has no on_result", at: place)
        }
        if stage.kind == .http, stage.mutates.contains(.chunk), unsafe stage.onChunk == nil, unsafe stage.onEnd == nil {
          trial.notes.warn("it declares to change chunks and has no on_chunk", at: place)
        }
        try findUndeclaredHeaders(trial, stage, place)
      }
    })

  /// Finds a stage that reads headers without declaring them. A host never gives it headers, so the check does.
  private static func findUndeclaredHeaders(_ trial: InterceptorTrial, _ stage: StageHooks, _ place: String) throws {
    guard stage.kind == .http || stage.kind == .parsing, !stage.needs.contains(.headers) else { return }
    func answers(_ type: String, _ status: UInt32, hasHeaders: Bool) throws -> [String] {
      let exchange = Exchange("a response of \(type) with status \(status)") {
        $0.head.status = status
        $0.head.headers = [HeaderSample(name: "Content-Type", value: type)] + HeaderSample.server
        $0.isMalformed = true
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      var settings = ExchangeRunner.Settings()
      settings.givesAllHeaders = hasHeaders
      let steps = trial.travel([exchange], stage, instance, settings)[0].steps
      return steps.map { "\($0.hook.name) \($0.verdict) \($0.staged.elements) \($0.staged.failure?.code ?? 0)" }
    }
    for type in ["application/json", "text/html", "text/event-stream"] {
      for status: UInt32 in [200, 503] {
        let without = try answers(type, status, hasHeaders: false)
        let with = try answers(type, status, hasHeaders: true)
        // The comparison is valid only if equal inputs give equal answers.
        guard with != without, try answers(type, status, hasHeaders: false) == without,
          try answers(type, status, hasHeaders: true) == with
        else { continue }
        return trial.notes.fail(
          "it looks at the headers of a response, which are not declared in needs, so it never gets any", at: place)
      }
    }
  }

  /// The parts that some hook of a stage can read, or that arrive in its events.
  static func readableParts(of kind: StageKind) -> Parts {
    parts { part in Hook.allCases.contains { !Contract.rights(part, in: $0, of: kind).isDisjoint(with: [.read, .event]) } }
  }

  /// The parts that some hook of a stage can set, or replace with what it emits.
  static func writableParts(of kind: StageKind) -> Parts {
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

extension Check {
  static let unknownExtensions = Check(
    "DS07", level: 1, "answers NULL for extensions it does not have",
    page: Page(
      rule: """
        extension() answers NULL for ids that it does not know: unknown ids, the empty id, and its own ids with other bytes before
        or after them.
        """,
      reason: """
        The caller casts the answer to the table of that id. With another table it calls functions with wrong arguments.
        """,
      example: "return strncmp(id, \"org.example.stats/1\", 19) == 0 ? &stats : NULL;       /* also for …/10 */",
      remedy: "return strcmp(id, \"org.example.stats/1\") == 0 ? &stats : NULL;"),
    .interceptor { trial in
      guard unsafe trial.interceptor.table.interceptor.extension != nil else { throw TrialNotes.Skip("it has no extension()") }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for id in ["", "/", "/1", "1", " ", "org.carabiner.conform.unknown/1", String(repeating: "x", count: 4096), "%s%n/1"] {
        trial.notes.expect(
          unsafe instance.extension(id) == nil, "it has a table for \(id.prefix(40).debugDescription)", at: trial.interceptor.id)
      }
      // The ids of a plugin's extensions are in its file as texts.
      for id in ExtensionIDs.candidates(in: trial.bytes) where unsafe instance.extension(id) != nil {
        for changed in [id + "0", id + " ", id + "x", " " + id, String(id.dropLast()), id.uppercased() + "\n"] {
          trial.notes.expect(
            unsafe instance.extension(changed) == nil, "it takes \(changed.debugDescription) for \(id)", at: trial.interceptor.id)
        }
      }
    })
}

/// Texts in a file that look like `org.example.stats/1`.
private enum ExtensionIDs {
  static func candidates(in bytes: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    for text in bytes.split(separator: 0) where (3...128).contains(text.count) {
      guard let slash = text.lastIndex(of: UInt8(ascii: "/")), slash > text.startIndex, slash + 1 < text.endIndex,
        text[(slash + 1)...].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        text.allSatisfy({ (0x21...0x7E).contains($0) })
      else { continue }
      found.insert(String(decoding: text, as: UTF8.self))
    }
    return found
  }
}
