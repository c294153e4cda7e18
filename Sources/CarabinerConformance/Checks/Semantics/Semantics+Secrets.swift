internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let secrets = Check(
    "SE08", level: 3, "does not disclose secrets",
    page: Page(
      rule: """
        The values of Authorization, Cookie, Set-Cookie, of every header with CRB_HEADER_SENSITIVE, and of members of the
        configuration whose names contain token, secret, password or api-key, appear in no log line, no baggage, no error, no result
        or chunk, no URL, no key, no record of the store, and in no output or file of the plugin. They appear in no other header
        unless it is marked with CRB_HEADER_SENSITIVE. Eight bytes in a row break the rule, also reversed, with each byte XORed with
        or added to the same number, in base64 or in hexadecimal digits, in pieces in several lines, and with other characters
        between them.
        """,
      reason: """
        Many people read logs, and logs are kept for years. A token in a log is disclosed. A disguised token is worse, because it
        was hidden on purpose.
        """,
      example: #"""
        snprintf(line, sizeof line, "sending %.*s: %.*s", …header name…, …header value…);  host->log(self, CRB_LOG_DEBUG, call, text(line));
        host->header_set(call, text("X-Debug"), authorization, 0);
        """#,
      remedy: """
        Log names, never values. Check CRB_HEADER_SENSITIVE before you copy a value. To recognize a secret again, log a part of
        its SHA-256.
        """
    ),
    timeLimit: .seconds(120),
    .interceptor { trial in
      var secrets = SecretSearch()
      var generator = SeededGenerator(trial.options.seed)
      func fields(_ owner: String) -> [HeaderSample] {
        ["Authorization", "Cookie", "Set-Cookie", "X-Marked"].map { name in
          let secret = SecretText.make(&generator)
          secrets.add("the header \(name) of \(owner)", secret)
          let cookies = (["id"] + Check.usualCookies).map { "\($0)=\(secret)" }.joined(
            separator: name == "Cookie" ? "; " : "; x-")
          return HeaderSample(name: name, value: name == "Authorization" ? "Bearer \(secret)" : cookies, isSensitive: true)
        } + [HeaderSample(name: "X-CSRF-Token", value: "not-the-token-of-the-cookie")]
      }
      let (request, response) = (fields("the request"), fields("the response"))
      let refused = [401, 500].map { status in Exchange("a response with status \(status)") { $0.head.status = status } }
      // HTTP/2 has names in lower case.
      let exchanges = (Exchange.usual + refused).flatMap { usual in
        [{ $0 }, { $0.lowercased() }, { $0.uppercased() }].map { (change: (String) -> String) in
          func named(_ fields: [HeaderSample]) -> [HeaderSample] {
            fields.map { HeaderSample(name: change($0.name), value: $0.value, isSensitive: $0.isSensitive) }
          }
          var exchange = usual
          exchange.operation.headers += named(request)
          exchange.request.headers += named(request)
          exchange.head.headers += named(response)
          return exchange
        }
      }
      let malformed = ["", "Basic ", "Digest username=ann, response="].flatMap { scheme in
        ["", " and more"].map { end in
          let secret = SecretText.make(&generator)
          secrets.add("an Authorization that is not Bearer", secret)
          return Exchange("a query with another Authorization") {
            let field = HeaderSample(name: "Authorization", value: scheme + secret + end, isSensitive: true)
            $0.operation.headers.append(field)
            $0.request.headers.append(field)
          }
        }
      }
      for stage in trial.stages {
        for name in try disclosedSpellings(trial, stage) {
          trial.notes.fail(
            "it hides the value of \(name) and discloses it if the name is in lower or upper case",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      for stage in trial.stages where stage.kind == .graphQL || stage.kind == .cache {
        for name in try disclosedMembers(trial, stage) {
          trial.notes.fail(
            "it hides the variable \(name) in its logs, and discloses it as a member of another variable",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      trial.testHost.openLedger()
      let output = PrintedOutput()
      let own = SecretText.make(&generator)
      let configuration =
        trial.options.configuration == nil
        ? SampleConfiguration.with(secret: own, for: trial.interceptor.configurationSchema) : nil
      var isOwn = configuration != nil
      var instance: TestHostInstance
      do { instance = try trial.instance(configuration) } catch {
        isOwn = false
        instance = try trial.instance()
      }
      if isOwn { secrets.add("a secret of the configuration", own) }
      for stage in trial.stages {
        _ = trial.travel(exchanges + malformed + withoutAuthorization(request), stage, instance)
        // A slow call may be logged in another way.
        WarpedTime(stage).run { _ = trial.travel(exchanges, stage, instance) }
      }
      instance.drain()
      instance.destroy()
      let handed = trial.testHost.takeLedger()
      judge(handed, secrets, trial)
      for printed in output.finish() {
        if let found = secrets.find(in: printed) { trial.notes.fail("it prints \(found)", at: trial.interceptor.id) }
      }
      for file in FolderNames.list(".") where !file.hasPrefix("printed-") {
        if let found = secrets.find(in: PrintedOutput.bytes(of: "./\(file)")) {
          trial.notes.fail("the file \(file) has \(found)", at: trial.interceptor.id)
        }
      }
    })

  /// Searches for secrets in the bytes that the plugin has given to the host.
  private static func judge(_ handed: [HandedBytes], _ secrets: SecretSearch, _ trial: InterceptorTrial) {
    for entry in handed where isPublic(entry) {
      if let found = secrets.find(in: entry.bytes) { trial.notes.fail("\(entry.name) has \(found)", at: entry.place) }
    }
    let pieces = Dictionary(grouping: handed.filter(isPublic), by: { "\($0.slot)" })
    for (_, entries) in pieces.sorted(by: { $0.key < $1.key }) {
      guard let entry = entries.first, let found = secrets.find(inPieces: entries.map(\.bytes)) else { continue }
      trial.notes.fail("\(entry.name) has \(found)", at: entry.place)
    }
  }

  /// Calls with these fields except Authorization, because a stage may use cookies only if there is no Authorization.
  private static func withoutAuthorization(_ fields: [HeaderSample]) -> [Exchange] {
    (Exchange.usual.prefix(2) + [Exchange.unavailable]).map { usual in
      var exchange = usual
      exchange.operation.headers += fields.filter { $0.name != "Authorization" }
      exchange.request.headers += fields.filter { $0.name != "Authorization" }
      return exchange
    }
  }

  /// The names of headers that a plugin hides in the usual spelling and discloses in another spelling.
  private static func disclosedSpellings(_ trial: InterceptorTrial, _ stage: StageHooks) throws -> [String] {
    let names = ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token"]
    let exchanges = [
      Exchange("a query"), Exchange.unavailable, Exchange("an answer with status 500") { $0.head.status = 500 },
    ]
    let forms: [(String) -> String] = [{ $0 }, { $0.lowercased() }, { $0.uppercased() }]
    return try disclosed(names, forms, trial, stage, exchanges, in: isPublic) { exchange, secrets, spelling in
      exchange.add(secrets.map { HeaderSample(name: spelling($0), value: "id=\($1)") })
    }
  }

  /// The names of variables that a plugin hides at the top level and discloses inside of another variable.
  private static func disclosedMembers(_ trial: InterceptorTrial, _ stage: StageHooks) throws -> [String] {
    let names = ["password", "token", "secret", "accessToken", "refreshToken", "apiKey", "pin", "cardNumber"]
    let exchanges = [Exchange("a query"), Exchange.mutation, Exchange.unavailable, Exchange.disconnected, Exchange.usual[4]]
    let forms: [(String) -> String] = [{ "{\($0)}" }, { "{\"input\":{\($0)}}" }, { "{\"inputs\":[{\($0)}]}" }]
    return try disclosed(names, forms, trial, stage, exchanges, in: isLogged) { exchange, secrets, place in
      exchange.operation.variables = place(secrets.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ","))
    }
  }

  /// The names whose secrets are disclosed in a later form but not in the first one. Only bytes that `isRead` selects are searched.
  private static func disclosed<Form>(
    _ names: [String], _ forms: [Form], _ trial: InterceptorTrial, _ stage: StageHooks, _ exchanges: [Exchange],
    in isRead: (HandedBytes) -> Bool, adding add: (inout Exchange, [(String, String)], Form) -> Void
  ) throws -> [String] {
    var generator = SeededGenerator(trial.options.seed)
    let found = try forms.map { form -> Set<String> in
      var search = SecretSearch()
      let secrets = names.map { ($0, SecretText.make(&generator)) }
      for (name, secret) in secrets { search.add(name, secret) }
      let instance = try trial.instance()
      trial.testHost.openLedger()
      for var exchange in exchanges {
        add(&exchange, secrets, form)
        _ = trial.travel([exchange], stage, instance)
      }
      let handed = trial.testHost.takeLedger().filter(isRead)
      instance.destroy()
      // One line may have several secrets.
      return Set(handed.flatMap { search.findAll(in: $0.bytes) })
    }
    return found.dropFirst().reduce(into: Set()) { $0.formUnion($1) }.subtracting(found.first ?? []).sorted()
  }

  private static func isLogged(_ entry: HandedBytes) -> Bool { entry.slot == .log }

  /// Whether other parties can see the bytes. A header marked as sensitive is protected. A request body goes to the server, which
  /// gets the secret anyway.
  private static func isPublic(_ entry: HandedBytes) -> Bool {
    switch entry.slot {
    case .headerSet, .setHead: !entry.isMarked
    case .fieldSet: entry.name == "the URL"
    default: true
    }
  }
}
