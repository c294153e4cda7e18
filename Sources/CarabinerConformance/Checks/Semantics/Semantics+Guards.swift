internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let wholeValues = Check(
    "SE22", level: 3, "lets no call pass for a part of a value",
    page: Page(
      rule: """
        A stage that lets a call pass because of the value of a header, such as a token that must be that of a cookie, refuses an
        empty value, the beginning of the value, and the value with more after it. If a header comes twice, both values count, and
        cookies may be in fields of their own. A limit of a variable holds for each notation of a number, and for numbers beyond 32
        and 64 bits.
        """,
      reason: "An attacker who may leave out the value, or guess it one character after the other, needs no value.",
      example: "if (memcmp(given.ptr, expected.ptr, given.len) == 0) return CRB_CONTINUE;",
      remedy: "Compare the lengths first, then all bytes, in a time that does not depend on them."),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let value = "zqtq7lm2xw9rb4kc8vn3ys6hd1jf5gp0"
      var seen: Set<String> = ["content-type", "cookie"]
      let allNames = trial.words.names.filter { seen.insert($0.lowercased()).inserted }
      // A call with an Authorization may need no other token, so calls without one are sent too.
      let others = allNames.filter { $0.lowercased() != "authorization" }
      // Each cookie is sent once, because a stage may refuse a repeated one.
      let cookieNames = usualCookies + trial.words.names.filter { !usualCookies.contains($0) }
      let pairs = cookieNames.map { "\($0)=\(value)" }
      let cookies = HeaderSample(name: "Cookie", value: pairs.joined(separator: "; "))
      let stages = trial.stages.filter { $0.kind == .graphQL || $0.kind == .http }
      guard !stages.isEmpty else { throw TrialNotes.Skip("it has neither a GraphQL nor an HTTP stage") }
      for stage in stages {
        for (kind, names) in [(Exchange.usual[0], allNames), (Exchange.mutation, allNames), (Exchange.mutation, others)] {
          // Each call has its own instance, because a stage may also count calls.
          func passage(_ changed: String, _ others: [String], _ cookies: [HeaderSample] = [cookies]) throws -> ExchangeResult {
            let instance = try trial.instance()
            defer { instance.destroy() }
            var exchange = kind
            exchange.name = "\(kind.name) with \(changed): \(others.map { $0.prefix(8) })"
            let fields = names.flatMap { name in (name == changed ? others : [value]).map { HeaderSample(name: name, value: $0) }
            }
            exchange.operation.headers = fields + cookies
            exchange.request.headers = fields + cookies + [HeaderSample(name: "Content-Type", value: "application/json")]
            return trial.travel([exchange], stage, instance)[0]
          }
          func passes(_ changed: String, _ others: [String]) throws -> Bool {
            try passage(changed, others).steps.first?.verdict == Verdict.continue
          }
          guard try passes("", []) else { continue }
          // The fields are sent in both orders, because a stage may read only the first one.
          let apart = (usualCookies.map { "\($0)=\(value)" } + [pairs.dropFirst(usualCookies.count).joined(separator: "; ")])
            .filter { !$0.isEmpty }.map { HeaderSample(name: "Cookie", value: $0) }
          for apart in [apart, apart.reversed()] {
            trial.notes.expect(
              try passage("", [], apart).steps.first?.verdict == Verdict.continue,
              "it refuses a call whose cookies are in fields of their own, and lets it pass with one field for all",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
          for name in try names.filter({ try !passes($0, []) }) {
            for (part, text) in [
              ("an empty value", ""), ("the first character", String(value.prefix(1))),
              ("the beginning", String(value.prefix(16))),
              ("more after the value", value + "x"),
            ] where try passes(name, [text]) {
              trial.notes.fail(
                "it refuses a call without \(name), and lets one pass with \(part)",
                at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
            }
          }
          for name in try names.filter({ try !passes($0, [bad]) }) {
            let both = try passage(name, [value, bad])
            let left = stage.kind == .http ? both.request.headers : both.operation.headers
            trial.notes.expect(
              both.steps.first?.verdict != Verdict.continue
                || !left.contains { $0.name.lowercased() == name.lowercased() && $0.value == bad },
              "it refuses a value of \(name), and lets it pass as the second of two fields",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
        try readsNumbers(trial, stage)
      }
    })

  /// Sends a number in several JSON notations. A limit may handle only one of them.
  private static func readsNumbers(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    guard stage.kind == .graphQL, stage.needs.contains(.variables) else { return }
    var seen: Set<String> = []
    let names = (["first", "last", "limit", "pageSize", "count", "offset", "skip", "page"] + trial.words.names).filter {
      !$0.contains("-") && seen.insert($0).inserted
    }
    for name in names {
      /// The verdict, and whether the variables were changed.
      func answer(_ number: String) throws -> String {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let exchange = Exchange("the variable \(name) of \(number)") {
          $0.operation.document =
            "query Books(\(names.map { "$\($0): Int" }.joined(separator: ", "))) { books(\(names.map { "\($0): $\($0)" }.joined(separator: ", "))) { id } }"
          $0.operation.variables = "{\(names.map { "\($0.json):\($0 == name ? number : "10")" }.joined(separator: ","))}"
        }
        let passage = trial.travel([exchange], stage, instance)[0]
        let isChanged = passage.operation.variables != exchange.operation.variables
        return "\(passage.steps.first.map { Verdict.name($0.verdict) } ?? "")\(isChanged ? " with other variables" : "")"
      }
      let (small, large) = (try answer("10"), try answer("1000000"))
      guard small != large, try answer("1000000") == large else { continue }
      for other in [
        "1e6", "1E+6", "1000000.0", "0.1e7", "2147483640", "2147483648", "4294967297", "9223372036854775807",
        "99999999999999999999",
      ] {
        trial.notes.expect(
          try answer(other) != small, "it limits the number 1000000 of the variable \(name), and takes \(other) for a small one",
          at: "\(trial.interceptor.id) graphql.on_request")
      }
    }
  }

  /// Names of cookies that many servers set.
  static let usualCookies = [
    "csrf", "csrftoken", "csrf_token", "csrf-token", "_csrf", "XSRF-TOKEN", "xsrf", "session", "sessionid", "sid", "token",
    "auth", "jwt",
  ]

  /// A value that is not valid in a header with a name or a number.
  private static let bad = "?!/ ,;"
}
