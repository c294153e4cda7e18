import CarabinerManifest
import CarabinerWire
import TestTools
import Testing

/// A manifest with one mistake, and the expected problem.
struct Refusal: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let text: String
  let code: ManifestProblem.Code
  let pointer: String
  let fragment: String

  init(_ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String) {
    testDescription = name
    self.text = text
    self.code = code
    self.pointer = pointer
    self.fragment = fragment
  }

  /// A mistake in one plugin.
  static func plugin(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\nplugins: [\(text)]\nchain: {http: []}", code, "/plugins/0\(pointer)", fragment)
  }

  /// A mistake in a chain of the plugins a, b and c.
  static func chain(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "\(three)\nchain: \(text)", code, "/chain\(pointer)", fragment)
  }

  /// A mistake in the only rule.
  static func rule(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "\(three)\nrules: [\(text)]", code, "/rules/0\(pointer)", fragment)
  }

  private static let three = """
    carabiner: 1
    plugins: [{name: a, file: present.plugin}, {name: b, file: present.plugin}, {name: c, file: present.plugin}]
    """
}

@Suite("A manifest with a mistake is refused, and the message has the place and the remedy")
struct ManifestRefusalTests {
  private static let documents: [Refusal] = [
    Refusal("no YAML", "carabiner: [1", .syntax, "", "this is not YAML"),
    Refusal("a tab as indentation", "settings:\n\tstaging: memfd", .syntax, "", "this is not YAML"),
    Refusal("nothing", "", .syntax, "", "begin with carabiner: 1"),
    Refusal("only a comment", "# nothing\n", .syntax, "", "the manifest is empty"),
    Refusal("two documents", "carabiner: 1\n---\ncarabiner: 1", .syntax, "", "another document"),
    Refusal("a list", "[1]", .wrongType, "", "must be an object that begins with carabiner: 1, and is an array"),
    Refusal("a control character", "carabiner: 1\nendpoint: \"\u{1}\"", .syntax, "", "control characters"),
    Refusal("an unknown alias", "carabiner: *one", .syntax, "", "undefined alias"),
    Refusal("a tag of its own", "carabiner: !secret 1", .syntax, "/carabiner", "the tag !secret is not supported"),
    Refusal("a tag that does not fit", "carabiner: !!int one", .syntax, "/carabiner", "does not fit its tag"),
    Refusal("a set", "carabiner: 1\nheaders: !!set {a}", .syntax, "/headers", "tag:yaml.org,2002:set is not supported"),
    Refusal("a merge key", "carabiner: 1\nheaders: &h {a: b}\nsettings: {<<: *h}", .syntax, "/settings", "merge key"),
    Refusal("a number as key", "carabiner: 1\nheaders: {1: a}", .syntax, "/headers", "the key 1 is not a text; put it in quotes"),
    Refusal("a truth value as key", "carabiner: 1\nheaders: {true: a}", .syntax, "/headers", "the key true is not a text"),
    Refusal("a list as key", "carabiner: 1\nheaders: {[a]: b}", .syntax, "/headers", "a key must be a text"),
    Refusal("a key twice", "carabiner: 1\nheaders: {}\nheaders: {}", .duplicateName, "", "the key headers occurs twice"),
    Refusal("a version that is missing", "plugins: []", .missing, "", "the version is missing; begin with carabiner: 1"),
    Refusal("version 2", "carabiner: 2\nother: []", .unsupportedVersion, "/carabiner", "this host reads carabiner: 1"),
    Refusal("a version as text", "carabiner: '1'", .unsupportedVersion, "/carabiner", "version \"1\" is not known"),
    Refusal(
      "an unknown key", "carabiner: 1\npluggins: []", .unknownKey, "/pluggins",
      "unknown key pluggins (did you mean plugins?); known are carabiner, protocol, endpoint"),
    Refusal("a key like no other", "carabiner: 1\nzzzzzzzzz: 1", .unknownKey, "/zzzzzzzzz", "unknown key zzzzzzzzz; known are"),
    Refusal("an endpoint of another kind", "carabiner: 1\nendpoint: ftp://a", .invalidValue, "/endpoint", "https:// or http://"),
    Refusal("an empty endpoint", "carabiner: 1\nendpoint: ''", .invalidValue, "/endpoint", "this text is empty"),
    Refusal("headers as a list", "carabiner: 1\nheaders: [a]", .wrongType, "/headers", "an object of texts, and is an array"),
    Refusal("a header with a line end", "carabiner: 1\nheaders: {a: \"b\\r\\nc\"}", .invalidValue, "/headers/a", "line end"),
    Refusal("a header name with a space", "carabiner: 1\nheaders: {'a b': c}", .invalidValue, "/headers/a b", "not a header"),
    Refusal("a header in two cases", "carabiner: 1\nheaders: {a: b, A: c}", .duplicateName, "/headers/A", "in other letters"),
    Refusal("a number in a header", "carabiner: 1\nheaders: {a: 1}", .wrongType, "/headers/a", "must be a text, and is a number"),
    Refusal(
      "a reference without end", "carabiner: 1\nheaders: {a: '${env:A'}", .malformedReference, "/headers/a",
      "does not end with }"),
    Refusal(
      "a reference of another kind", "carabiner: 1\nendpoint: '${evn:A}'", .malformedReference, "/endpoint",
      "${evn:A} is not a reference (did you mean env?)"),
  ]

  private static let settings: [Refusal] = [
    ("staging: disk", "staging", "use directory or memfd"), ("timeout: 30", "timeout", "30 is not a duration; write it with"),
    ("timeout: '30'", "timeout", "30 has no unit; write 30s"), ("timeout: 5 sec", "timeout", "not a unit of time"),
    ("timeout: 0s", "timeout", "is zero"), ("timeout: -1s", "timeout", "not a duration"),
    ("connections-per-host: 0", "connections-per-host", "from 1 to 100000"),
    ("connect-timeout: 0ms", "connect-timeout", "is zero"), ("timeout: 900h", "timeout", "at most 30 days"),
    ("maximum-head: 64MB", "maximum-head", "\"MB\" is not a unit of size"), ("maximum-body: 0", "maximum-body", "is zero"),
    ("maximum-body: 1.5", "maximum-body", "not a whole number of bytes"), ("maximum-body: -1", "maximum-body", "not a size"),
    ("maximum-attempts: 0", "maximum-attempts", "from 1 to 1000"), ("plugin-retries: 1.5", "plugin-retries", "from 0 to 1000"),
    ("maximum-part: 0", "maximum-part", "is zero"), ("idle-timeout: 0s", "idle-timeout", "is zero"),
    ("redirect-headers: ['x user']", "redirect-headers/0", "is not a header name"),
    ("breaker-cool-down: 0s", "breaker-cool-down", "is zero"),
    ("breaker-cool-down: 5", "breaker-cool-down", "not a duration"),
    ("cancel-grace: [1s]", "cancel-grace", "not a duration"), ("store-records: many", "store-records", "not a whole number"),
    ("store-bytes: 0B", "store-bytes", "is zero"), ("store-fields: 0", "store-fields", "1 to 1000000"),
    ("store-file-bytes: 0B", "store-file-bytes", "is zero"),
    ("transport: {engine: curl}", "transport/engine", "is not a known engine; use auto or libcurl"),
  ].map { Refusal("settings: {\($0)}", "carabiner: 1\nsettings: {\($0)}", .invalidValue, "/settings/\($1)", $2) }

  private static let others: [Refusal] = [
    Refusal("settings: memfd", "carabiner: 1\nsettings: memfd", .wrongType, "/settings", "an object, and is a string"),
    Refusal(
      "an unknown setting", "carabiner: 1\nsettings: {time-out: 1s}", .unknownKey, "/settings/time-out", "(did you mean timeout?)"
    ),
    Refusal(
      "a crash loop as number", "carabiner: 1\nsettings: {crash-loop: 3}", .wrongType, "/settings/crash-loop", "must be an object"
    ),
    Refusal(
      "zero crashes", "carabiner: 1\nsettings: {crash-loop: {after: 0}}", .invalidValue, "/settings/crash-loop/after",
      "from 1 to 1000"),
    Refusal(
      "crashes within zero seconds", "carabiner: 1\nsettings: {crash-loop: {within: 0s}}", .invalidValue,
      "/settings/crash-loop/within", "is zero"),
    Refusal(
      "an unknown reaction to crashes", "carabiner: 1\nsettings: {crash-loop: {then: ignore}}", .invalidValue,
      "/settings/crash-loop/then", "use skip or refuse"),
    Refusal(
      "a typing mistake in crash-loop", "carabiner: 1\nsettings: {crash-loop: {window: 1m}}", .unknownKey,
      "/settings/crash-loop/window",
      "known are after, within, then"),
    Refusal(
      "GET for mutations too", "carabiner: 1\nsettings: {get-for-queries: all}", .wrongType, "/settings/get-for-queries",
      "true or false"),
    Refusal(
      "an unknown format of subscriptions", "carabiner: 1\nsettings: {subscriptions: sse}", .invalidValue,
      "/settings/subscriptions", "multipart or events"),
    Refusal(
      "a client as text", "carabiner: 1\nsettings: {client-awareness: shop}", .wrongType, "/settings/client-awareness",
      "must be an object"),
    Refusal(
      "a client's name with a line end", "carabiner: 1\nsettings: {client-awareness: {name: \"a\\r\\nX: b\"}}", .invalidValue,
      "/settings/client-awareness/name", "cannot hold a line end"),
    Refusal(
      "an empty version of a client", "carabiner: 1\nsettings: {client-awareness: {version: ''}}", .invalidValue,
      "/settings/client-awareness/version", "this text is empty"),
    Refusal(
      "an unknown key of persisted queries", "carabiner: 1\nbuilt-ins: {persisted-queries: {get: true}}", .unknownKey,
      "/built-ins/persisted-queries/get", "known are enabled, get-for-hashes"),
    Refusal("no such certificates", "carabiner: 1\nsettings: {ca-file: no.pem}", .missing, "/settings/ca-file", "no file"),
    Refusal(
      "a built-in that does not exist", "carabiner: 1\nbuilt-ins: {maxretry: {}}", .unknownKey, "/built-ins/maxretry",
      "(did you mean max-retry?)"),
    Refusal(
      "too small a multiplier", "carabiner: 1\nbuilt-ins: {max-retry: {multiplier: 0.5}}", .invalidValue,
      "/built-ins/max-retry/multiplier", "from 1 to 100"),
    Refusal(
      "yes is a text", "carabiner: 1\nbuilt-ins: {max-retry: {jitter: yes}}", .wrongType, "/built-ins/max-retry/jitter",
      "must be true or false, and is a string"),
  ]

  private static let plugins: [Refusal] = [
    .plugin("a plugin as text", "auth", .wrongType, "", "must be an object"),
    .plugin("no name", "{file: present.plugin}", .missing, "", "the plugin has no name"),
    .plugin("an empty name", "{name: '', file: present.plugin}", .invalidValue, "/name", "this text is empty"),
    .plugin("a number as name", "{name: 1, file: present.plugin}", .wrongType, "/name", "a text, and is a number"),
    .plugin("capitals", "{name: Auth, file: present.plugin}", .invalidValue, "/name", "lower-case letters, digits and -"),
    .plugin("the name of a built-in", "{name: store, file: present.plugin}", .duplicateName, "/name", "of the cache list"),
    .plugin("neither file nor ffi", "{name: a}", .missing, "", "needs either file, url or ffi; write one of them"),
    .plugin("both file and ffi", "{name: a, file: present.plugin, ffi: {}}", .invalidValue, "", "both file and ffi"),
    .plugin("a missing file", "{name: a, file: absent.so}", .missing, "/file", "absent.so; build the plugin, or correct"),
    .plugin("NUL in a path", "{name: a, file: \"a\\0b\"}", .invalidValue, "/file", "cannot hold NUL"),
    .plugin("a short pin", "{name: a, file: present.plugin, sha256: abc}", .invalidValue, "/sha256", "64 hexadecimal digits"),
    .plugin("a pin beside ffi", "{name: a, ffi: {}, sha256: abc}", .invalidValue, "/sha256", "is not allowed beside ffi"),
    .plugin("ffi as text", "{name: a, ffi: crc32}", .wrongType, "/ffi", "an object"),
    .plugin("an unknown key", "{name: a, file: present.plugin, confg: {}}", .unknownKey, "/confg", "(did you mean config?)"),
    .plugin("config as list", "{name: a, file: present.plugin, config: []}", .wrongType, "/config", "an object"),
    .plugin(
      "a reference deep in a config", "{name: a, file: present.plugin, config: {k: [0, '${x:y}']}}", .malformedReference,
      "/config/k/1", "${x:y} is not a reference"),
    .plugin("an unknown service", "{name: a, file: present.plugin, grants: [fech]}", .invalidValue, "/grants/0", "mean fetch"),
    .plugin("a service twice", "{name: a, file: present.plugin, grants: [fetch, fetch]}", .duplicateName, "/grants/1", "already"),
    .plugin("grants as text", "{name: a, file: present.plugin, grants: fetch}", .wrongType, "/grants", "a list of services"),
    .plugin(
      "a fault policy", "{name: a, file: present.plugin, on-fault: ignore}", .invalidValue, "/on-fault",
      "use fail, skip, or open-after-N with a number from 1 to 1000, as in open-after-5"),
    .plugin(
      "open at once", "{name: a, file: present.plugin, on-fault: open-after-0}", .invalidValue, "/on-fault", "from 1 to 1000"),
    .plugin(
      "open too late", "{name: a, file: present.plugin, on-fault: open-after-1001}", .invalidValue, "/on-fault", "1 to 1000"),
    .plugin("open after nothing", "{name: a, file: present.plugin, on-fault: open-after-}", .invalidValue, "/on-fault", "as in"),
    .plugin("open after a sign", "{name: a, file: present.plugin, on-fault: open-after-+5}", .invalidValue, "/on-fault", "as in"),
    .plugin("a breaker beside ffi", "{name: a, ffi: {}, on-fault: open-after-5}", .invalidValue, "/on-fault", "beside ffi"),
    .plugin("no time", "{name: a, file: present.plugin, timeout: 0s}", .invalidValue, "/timeout", "is zero"),
    .plugin("mandatory: 1", "{name: a, file: present.plugin, mandatory: 1}", .wrongType, "/mandatory", "true or false"),
    .plugin("enabled: 0", "{name: a, file: present.plugin, enabled: 0}", .wrongType, "/enabled", "true or false"),
    .plugin(
      "mandatory and switched off", "{name: a, file: present.plugin, mandatory: true, enabled: false}", .invalidValue, "/enabled",
      "remove enabled: false or mandatory: true"),
    Refusal(
      "a name twice", "carabiner: 1\nplugins: [{name: a, file: present.plugin}, {name: a, ffi: {}}]", .duplicateName,
      "/plugins/1/name", "there is a plugin a already"),
  ]

  private static let chains: [Refusal] = [
    .chain("a chain as list", "[a]", .wrongType, "", "an object, and is an array"),
    .chain("an unknown list", "{graphqls: [a]}", .unknownKey, "/graphqls", "(did you mean graphql?)"),
    .chain("a list as text", "{http: a}", .wrongType, "/http", "a list of stages"),
    .chain("a stage as number", "{http: [1]}", .wrongType, "/http/0", "a stage's name, or {use: name"),
    .chain("an empty stage", "{http: ['']}", .invalidValue, "/http/0", "this text is empty"),
    .chain("an entry without use", "{http: [{before: a}]}", .missing, "/http/0", "write use:"),
    .chain("an unknown key", "{http: [{use: a, befor: b}]}", .unknownKey, "/http/0/befor", "(did you mean before?)"),
    .chain("an unknown stage", "{http: [respons-code]}", .unknownStage, "/http/0", "(did you mean response-code?); declare it"),
    .chain("a stage of another list", "{http: [json]}", .unknownStage, "/http/0", "json is a stage of the parsing list"),
    .chain("a stage twice", "{http: [a, {use: a}]}", .duplicateName, "/http/1", "a is in this list already"),
    .chain(
      "a stage after the delegate", "{http: [a, delegate, response-code]}", .orderUnsatisfied, "/http/2",
      "response-code is behind delegate, and the delegate has the last word"),
    .chain(
      "the delegate in another list", "{graphql: [delegate]}", .unknownStage, "/graphql/0", "delegate is a stage of the http list"
    ),
    .chain("no parser", "{parsing: []}", .invalidValue, "/parsing", "needs a parser"),
    .chain("before itself", "{http: [{use: a, before: a}]}", .orderCycle, "/http/0", "before or after itself"),
    .chain("before an earlier one", "{http: [a, {use: b, before: [a]}]}", .orderUnsatisfied, "/http/1", "b must be before a"),
    .chain(
      "after a later one", "{http: [{use: a, after: [b]}, b]}", .orderUnsatisfied, "/http/0",
      "a must be after b but is before it"),
    .chain(
      "a cycle of two", "{http: [{use: a, before: b}, {use: b, before: a}]}", .orderCycle, "/http",
      "a before b before a is a cycle"),
    .chain(
      "a cycle of three", "{http: [{use: a, after: c}, {use: b, after: a}, {use: c, after: b}]}", .orderCycle, "/http",
      "a before b before c before a is a cycle"),
    .chain(
      "a typing mistake in a constraint", "{http: [{use: a, after: bb}]}", .orderUnsatisfied, "/http/0",
      "names bb, which is not in this list; add it"),
    .chain("an assertion about nothing", "{http: [{use: a, after: []}]}", .invalidValue, "/http/0/after", "list is empty"),
    .chain("an assertion about a number", "{http: [{use: a, after: [1]}]}", .wrongType, "/http/0/after/0", "a text"),
    .rule("a rule without condition", "{chain: {http: [a]}}", .missing, "", "a rule has a condition"),
    .rule("a rule without lists and settings", "{when: {type: query}}", .missing, "", "write when: and one of them"),
    .rule("an unknown type", "{when: {type: querry}, chain: {}}", .invalidValue, "/when/type", "(did you mean query?)"),
    .rule("a second unknown type", "{when: {type: [query, x]}, chain: {}}", .invalidValue, "/when/type/1", "x is not an"),
    .rule("no operations", "{when: {operation: []}, chain: {}}", .invalidValue, "/when/operation", "list is empty"),
    .rule("an operation as number", "{when: {operation: 1}, chain: {}}", .wrongType, "/when/operation", "a name or a list"),
    .rule("a slip in the condition", "{when: {opration: a}, chain: {}}", .unknownKey, "/when/opration", "mean operation?"),
    .rule("an unknown stage", "{when: {}, chain: {cache: [stor]}}", .unknownStage, "/chain/cache/0", "(did you mean store?)"),
  ]

  /// All manifests with one mistake.
  static let all =
    documents + settings + others + Refusal.stores + Refusal.redisStores + plugins + Refusal.downloads + Refusal.fleets
    + Refusal.isolations
    + Refusal.clients + Refusal.sharedStates
    + Refusal.gateway
    + Refusal.upstreams
    + chains

  @Test("each mistake is reported as the only problem", .rule("convention.1"), arguments: all)
  func refusal(_ refusal: Refusal) throws {
    let problems = ManifestFixtures.problems(refusal.text)
    #expect(problems.count == 1, "\(problems)")
    let problem = try #require(problems.first)
    #expect(problem.code == refusal.code)
    #expect(problem.pointer.description == refusal.pointer)
    #expect(problem.message.contains(refusal.fragment), "\(problem.message)")
  }

  @Test("all mistakes are reported at once, in the order of the file and with their lines")
  func everything() {
    let problems = ManifestFixtures.problems(
      """
      carabiner: 1
      chain:
        http: [absent]
      settings:
        staging: disk
        timeout: soon
      plugins:
        - name: a
          file: absent.so
          on-fault: ignore
        - name: a
          ffi: {}
      """)
    #expect(
      problems.map { "\($0.pointer) \($0.position.map { "\($0.line):\($0.column)" } ?? "-")" } == [
        "/chain/http/0 3:10", "/settings/staging 5:3", "/settings/timeout 6:3", "/plugins/0/file 9:5",
        "/plugins/0/on-fault 10:5", "/plugins/1/name 11:5",
      ])
  }

  @Test("a plugin with a mistake is reported once, although lists use it")
  func noCascade() {
    let problems = ManifestFixtures.problems(
      "{carabiner: 1, plugins: [{name: a, file: absent.so}], chain: {http: [a, {use: response-code, after: a}]}}")
    #expect(problems.map(\.pointer.description) == ["/plugins/0/file"])
  }
}
