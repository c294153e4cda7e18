internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerWire
internal import Synchronization

extension Check {
  static let bodyAndHeaderSizes = Check(
    "HI01", level: 5, "withstands bodies and headers of every size",
    page: Page(
      rule: """
        Bodies of 0 bytes, 1 byte and 64 MiB, bodies that announce more than they have, 10,000 headers and a header of 1 MiB neither crash
        nor block the plugin.
        """,
      reason: "The operator of the server, or of a proxy in front of it, chooses these sizes.",
      example: "char value[256]; memcpy(value, header->value.ptr, header->value.len);",
      remedy: """
        Compare lengths before you copy. If data is too long, refuse it with set_error() and CRB_FAIL, and name the limit in the
        message.
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let large = [UInt8](repeating: UInt8(ascii: " "), count: trial.options.times(64 << 20, atLeast: 4 << 20))
      let text = String.copies(1 << 20, of: "x")
      let words = trial.words.names.joined(separator: " ")
      let many = (0..<10_000).map { HeaderSample(name: "X-Many-\($0)", value: "\($0)") }
      try trial.exercise([
        Exchange("a body without bytes") {
          $0.chunks = [[]]
          $0.request.body = []
          $0.results = [ResultSample(data: "null")]
        },
        Exchange("a body of one byte") {
          $0.chunks = [[UInt8(ascii: "{")]]
          $0.request.body = [UInt8(ascii: "{")]
        },
        Exchange("a very large body") {
          $0.chunks = [large]
          $0.request.body = large
        },
        Exchange("a result of a mebibyte") { $0.results = [ResultSample(data: "\"\(text)\"")] },
        Exchange("a result of ten mebibytes") {
          $0.results = [ResultSample(data: "{\"text\":\(JSONValueText.string(words, atLeast: 10 << 20))}")]
        },
        Exchange("ten thousand headers") {
          $0.operation.headers = many
          $0.request.headers = many
          $0.head.headers = many
        },
        Exchange("a header of a mebibyte") {
          let field = HeaderSample(name: "X-Long", value: text)
          $0.operation.headers.append(field)
          $0.request.headers.append(field)
          $0.head.headers.append(field)
        },
        Exchange("a document of a mebibyte") { $0.operation.document = "{ a(b: \"\(text)\") }" },
      ])
      try trial.exercise(ParserTrial(trial).announcing)
    })
}

extension Check {
  static let extremeJSON = Check(
    "HI02", level: 5, "withstands extreme JSON",
    page: Page(
      rule: """
        JSON and documents nested 100,000 deep, huge numbers, lone surrogates and NUL in strings neither crash nor block the plugin, on a thread with a
        stack of 256 KiB.
        """,
      reason: """
        Results are raw JSON. The host checks only their syntax. A recursive parser overflows the stack, and the process ends.
        """,
      example:
        "static value *parse(const char **p) { if (**p == '[') return list(parse(p)); … }      /* no limit to the depth */",
      remedy: "Limit the depth, or parse without recursion. Keep numbers as texts until you need their value."
    ),
    .interceptor { trial in
      let depth = 100_000
      let deep = String.copies(depth, of: "[") + String.copies(depth, of: "]")
      let objects = String.copies(20_000, of: #"{"a":"#) + "1" + String.copies(20_000, of: "}")
      let texts: [(String, String)] = [
        ("lists in lists", deep), ("objects in objects", objects), ("a huge number", "1e999999999"),
        ("a long number", String.copies(100_000, of: "9")), ("a lone surrogate", #""\ud800""#),
        ("a NUL in a string", #""a\u0000b""#), ("a NUL in a name", #"{"\u0000":1}"#), ("a name twice", #"{"a":1,"a":2}"#),
        ("an escape at the end of a string", #""\\""#),
      ]
      var settings = ExchangeRunner.Settings(changesThreads: true)
      settings.stackBytes = 256 << 10
      try trial.exercise(
        texts.map { name, json in
          Exchange("a result with \(name)") {
            $0.results = [ResultSample(data: json, errors: "[\(json)]", extensions: #"{"e":\#(json)}"#)]
            $0.operation.variables = #"{"v":\#(json)}"#
            $0.operation.extensions = #"{"e":\#(json)}"#
            $0.chunks = [Array(#"{"data":\#(json)}"#.utf8)]
          }
        }
          + [("{a", "}"), ("{a(b:[", "])}"), ("{...on A{b(c:{d:", "})}}"), ("{a(b:\"\"){", "}}")].map { opening, closing in
            Exchange("a document of \(opening) in itself") {
              $0.operation.document =
                "query Books " + String.copies(depth / 2, of: opening) + String.copies(depth / 2, of: closing)
              $0.isMalformed = true
            }
          }, settings)
    })
}

extension Check {
  static let anyConfiguration = Check(
    "HI03", level: 3, "accepts or refuses any configuration without a crash",
    page: Page(
      rule: """
        validate() accepts or refuses configurations that are empty, not an object, of wrong types, nested 10,000 deep or 10 MiB
        long. So does create() if the schema accepts them. Neither of them crashes or hangs.
        """,
      reason: """
        The host checks a configuration with the schema, so create() may rely on the schema, but only on the schema: it rarely
        limits lengths, depths and numbers. Editors and `check` call validate() with files that no person has reviewed.
        """,
      example: "char url[256]; strcpy(url, find(config, \"url\"));",
      remedy: """
        Check lengths before you copy. Express limits in the schema too (maxLength, maximum), so that operators see the error
        early.
        """),
    timeLimit: .seconds(120),
    .interceptor { trial in
      let schema = trial.interceptor.configurationSchema
      let compiled = schema.flatMap { try? JSONValue(parsing: $0) }.flatMap { try? CompiledSchema($0) }
      for text in HostileConfigurations.texts(for: schema, seed: trial.options.seed, count: trial.options.times(200, atLeast: 20))
      {
        FlightRecord.note("configuration \(text.prefix(60))", inHook: false)
        let value = try? JSONValue(parsing: text)
        let isAccepted = value.map { compiled?.violations(in: $0).isEmpty ?? ($0.object != nil) } ?? false
        if isAccepted {
          (try? trial.instance(text))?.destroy()
        } else {
          // The schema has refused it, so the answer does not matter.
          _ = unsafe TestHostInstance.validate(trial.interceptor, host: trial.host, configuration: text)
        }
      }
    })
}

extension Check {
  static let anyNeighbour = Check(
    "HI04", level: 8, "works with any neighbour in the chain",
    page: Page(
      rule: """
        Eight other stages of the chain change the request and its response, and this stage breaks no rule. They change, drop and
        multiply results, answer in place of the server, fail with their own errors, retry the call or end it early.
        """,
      reason: "The manifest decides which stages are in the chain, long after the plugin was written.",
      example: "expected[state->count++] = result;         /* \"there is one result for each chunk\" */",
      remedy: "Rely only on the rules of carabiner.h for a hook, not on the behaviour of a usual chain."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      var generator = SeededGenerator(trial.options.seed)
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        for number in 0..<trial.options.times(1000, atLeast: 200) {
          guard var exchange = Exchange.usual.randomElement(using: &generator) else { continue }
          let neighbours = (0..<8).map { _ in ChainMutation.random(&generator) }
          for neighbour in neighbours { neighbour.change(&exchange) }
          exchange.name = "neighbours \(number): \(exchange.name)"
          var settings = ExchangeRunner.Settings()
          settings.forcedRetries = UInt32.random(in: 0...2, using: &generator)
          _ = trial.travel([exchange], stage, instance, settings)
        }
      }
    })
}

extension Check {
  /// Exchanges whose loggable texts are longer than a plugin's buffer.
  private static func longTexts(_ count: Int) -> [Exchange] {
    let long = String(String.copies(count / 5 + 1, of: "long ").prefix(count - 1)) + "x"
    let name = String.copies(count, of: "N")
    let plain = Exchange("long texts of \(count) bytes") {
      $0.operation.name = name
      let fields = [HeaderSample(name: "X-\(name)", value: "1"), HeaderSample(name: "X-Long", value: long)]
      $0.operation.headers += fields
      $0.request.headers += fields
      $0.head.headers += fields
      $0.request.url = "https://books.example/\(name)?\(name)=1"
      $0.results = [
        ResultSample(
          data: "{\"\(name)\":\"\(long)\"}",
          errors: #"[{"message":"\#(long)","path":["\#(name)"],"extensions":{"code":"\#(name)"}}]"#,
          extensions: "{\"\(name)\":\"\(long)\"}")
      ]
    }
    var failed = plain
    failed.name = "an error with long texts of \(count) bytes"
    failed.results = []
    failed.chunks = []
    failed.ending = .error(ErrorSample(domain: name, message: long, detail: "{\"a\":\"\(long)\"}", origin: long))
    return [plain, failed]
  }

  static let loggedInput = Check(
    "HI06", level: 4, "logs no control characters of foreign texts",
    page: Page(
      rule: """
        Texts from outside (operation names, header values, error messages) are logged without control characters, and never used
        as a format. A line feed or an escape character in a logged line is a warning. A format that is followed usually crashes. A line
        with a NUL byte is longer than its text.
        """,
      reason: """
        With a line feed an attacker writes a complete line into the log. An escape sequence changes the terminal of the reader.
        """,
      example: "snprintf(line, sizeof line, name); host->log(self, CRB_LOG_INFO, call, text(line));",
      remedy: """
        snprintf(line, sizeof line, "%.*s", (int)name.len, name.ptr); and replace bytes below 0x20, and 0x7F, by a space.
        """),
    .interceptor { trial in
      let hostile = "evil\u{1B}[31m\nname %n%s%s%s%s%n"
      try trial.exercise(
        [
          Exchange("texts with formats and escapes") {
            $0.operation.name = hostile
            $0.operation.headers.append(HeaderSample(name: "X-Hostile", value: "%n%s%s%s \u{1B}[2J"))
            $0.request.headers.append(HeaderSample(name: "X-Hostile", value: "%n%s%s%s \u{1B}[2J"))
            $0.request.url = "https://books.example/%25n%25s%n%s%n"
            $0.results = [ResultSample(errors: #"[{"message":"evil\u001b[31m\nname %n%s%s"}]"#)]
          },
          Exchange("an error with formats and escapes") {
            $0.operation.name = hostile
            $0.results = []
            $0.chunks = []
            $0.ending = .error(ErrorSample(message: hostile, detail: #"{"a":"%n%s"}"#, origin: hostile))
          },
        ] + [100, 300, 1000, 10_000].flatMap(longTexts))
      for line in trial.testHost.state.withLock({ $0.logged }) {
        trial.notes.expect(
          !line.utf8.contains(0),
          "it logs a NUL byte after \(line.utf8.prefix { $0 != 0 }.count) bytes: is the length that of the text in the buffer?",
          at: trial.interceptor.id)
        if line.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
          trial.notes.warn(
            "it logs control characters of a foreign text: \(line.debugDescription.prefix(120))", at: trial.interceptor.id)
        }
      }
    })
}
