internal import CarabinerBridge

extension Check {
  static let secrets = Check(
    "SE08", level: 3, "does not disclose secrets",
    page: Page(
      rule: """
        The values of Authorization, Cookie, Set-Cookie, of every header with CRB_HEADER_SENSITIVE, and of members of the
        configuration whose names contain token, secret, password or api-key, appear in no log line, no baggage, no error, no result or chunk, no URL, no key, no record of the store, and in no output or file of the plugin.
        They appear in no other header unless it is marked with CRB_HEADER_SENSITIVE. Eight bytes in a row break the rule, also
        reversed, with each byte XORed with or added to the same number, in base64 or in hexadecimal digits, in pieces in several lines, and
        with other characters between them.
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
          return HeaderSample(name: name, value: name == "Authorization" ? "Bearer \(secret)" : "id=\(secret)", isSensitive: true)
        }
      }
      let (request, response) = (fields("the request"), fields("the response"))
      let refused = [401, 500].map { status in Exchange("a response with status \(status)") { $0.head.status = status } }
      let exchanges = (Exchange.usual + refused).map { usual in
        var exchange = usual
        exchange.operation.headers += request
        exchange.request.headers += request
        exchange.head.headers += response
        return exchange
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
      for stage in trial.stages { _ = trial.travel(exchanges, stage, instance) }
      instance.drain()
      instance.destroy()
      let handed = trial.testHost.takeLedger()
      for entry in handed where isPublic(entry) {
        if let found = secrets.find(in: entry.bytes) { trial.notes.fail("\(entry.name) has \(found)", at: entry.place) }
      }
      let pieces = Dictionary(grouping: handed.filter(isPublic), by: { "\($0.slot)" })
      for (_, entries) in pieces.sorted(by: { $0.key < $1.key }) {
        guard let entry = entries.first, let found = secrets.find(inPieces: entries.map(\.bytes)) else { continue }
        trial.notes.fail("\(entry.name) has \(found)", at: entry.place)
      }
      for printed in output.finish() {
        if let found = secrets.find(in: printed) { trial.notes.fail("it prints \(found)", at: trial.interceptor.id) }
      }
      for file in FolderNames.list(".") where !file.hasPrefix("printed-") {
        if let found = secrets.find(in: PrintedOutput.bytes(of: "./\(file)")) {
          trial.notes.fail("the file \(file) has \(found)", at: trial.interceptor.id)
        }
      }
    })

  /// Whether others can see it. A marked header is protected, and a request body goes to the server that gets the secret anyway.
  private static func isPublic(_ entry: HandedBytes) -> Bool {
    switch entry.slot {
    case .headerSet, .setHead: !entry.isMarked
    case .fieldSet: entry.name == "the URL"
    default: true
    }
  }
}
