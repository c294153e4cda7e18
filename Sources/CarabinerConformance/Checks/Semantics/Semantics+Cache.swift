internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let cacheReads = Check(
    "SE09", level: 3, "a cache returns the entry of the requested key",
    page: Page(
      rule: """
        If on_read answers, it answers with the entry that was written for the same document, operation name, variables, extensions and
        Authorization. So does on_request of a stage that keeps results or responses.
        """,
      reason: "A cache that confuses two requests shows the data of one user to another.",
      example: "key = hash(document);            /* and the variables? */",
      remedy: """
        Build the key from everything that determines the answer: document, operation name, variables, extensions and Authorization, each
        with its length in front. Copy the bytes: addresses are used again.
        """),
    .interceptor { trial in
      var hasAnswered = false
      for stage in trial.stages where stage.kind == .http || stage.kind == .graphQL {
        if try StoredAnswers(trial, stage).confuse() { hasAnswered = true }
      }
      guard let stage = trial.stages.first(where: { $0.kind == .cache }) else {
        guard hasAnswered else { throw TrialNotes.Skip("it has no cache stage, and answers no request with what it has kept") }
        return
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      func exchange(_ number: Int, _ results: [ResultSample]) -> Exchange {
        Exchange("the entry \(number)") {
          $0.operation.variables = #"{"first":\#(number)}"#
          $0.results = results
        }
      }
      func sample(_ number: Int) -> ResultSample { ResultSample(data: #"{"books":[{"__typename":"Book","id":"n\#(number)"}]}"#) }
      for number in 0..<20 { _ = trial.travel([exchange(number, [sample(number)])], stage, instance) }
      for number in (0..<40).reversed() {
        let passage = trial.travel([exchange(number, [])], stage, instance)[0]
        guard passage.isAnswered, let answer = passage.elements.first else { continue }
        let text = String(decoding: answer.bytes, as: UTF8.self)
        trial.notes.expect(
          number < 20 && text.contains("\"n\(number)\""), "asked for entry \(number) it answers \(text.prefix(120))",
          at: trial.interceptor.id)
      }
      try confusions(trial, stage)
      keepsSizes(trial, stage, instance)
    })

  /// Stores and reads results whose sizes are at the limits of 8-bit and 16-bit numbers.
  private static func keepsSizes(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    for size in [0, 255, 256, 32_768, 65_535, 65_536, 70_000, 1 << 20] {
      let sample = ResultSample(data: "{\"text\":\"\(String(repeating: "x", count: size))\"}")
      let exchange = Exchange("a result of \(size) bytes") {
        $0.operation.variables = #"{"size":\#(size)}"#
        $0.results = [sample]
      }
      let passage = trial.writeAndRead(exchange, stage, instance)
      if passage.verdict == Verdict.fail {
        trial.notes.fail("it stores a result with a text of \(size) bytes and fails to answer with it", at: trial.interceptor.id)
      }
      guard passage.isAnswered, let answer = passage.elements.first else { continue }
      let text = StagedJSON.object(answer.bytes)?["data"]?["text"]?.string
      trial.notes.expect(
        text?.utf8.count == size, "it stores a result with a text of \(size) bytes and answers with another one",
        at: trial.interceptor.id)
    }
  }

  /// Stores the result of one of two similar requests, and then reads that of the other. The host reuses memory, so the texts of
  /// both may have equal addresses.
  private static func confusions(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    trial.testHost.state.withLock { $0.isGuarded = false }
    for (difference, first, second) in CacheConfusion.all {
      let instance = try trial.instance()
      defer { instance.destroy() }
      let write = Exchange("one of two requests that differ in \(difference)") { $0.operation = first }
      let read = Exchange("the other of two requests that differ in \(difference)") {
        $0.operation = second
        $0.results = []
      }
      _ = trial.travel([write], stage, instance)
      trial.notes.expect(
        !trial.travel([read], stage, instance)[0].isAnswered,
        "it answers a request with the entry of another one that differs in \(difference)", at: trial.interceptor.id)
    }
  }
}

/// Pairs of operations that a cache may confuse.
enum CacheConfusion {
  static let all: [(difference: String, OperationSample, OperationSample)] = [
    ("the end of a long document", sample { $0.document = long("a") }, sample { $0.document = long("b") }),
    ("the end of long variables", sample { $0.variables = longVariables(1) }, sample { $0.variables = longVariables(2) }),
    (
      "one character of the document", sample { $0.document = "{ book(id: 1) { id } }" },
      sample { $0.document = "{ book(id: 2) { id } }" }
    ),
    (
      "the operation of the document that is run",
      sample {
        $0.name = "A"
        $0.document = both
      },
      sample {
        $0.name = "B"
        $0.document = both
      }
    ),
    (
      "the place where the document ends and the name begins",
      sample { ($0.name, $0.document, $0.variables) = ("y", "\(both) #x", nil) },
      sample { ($0.name, $0.document, $0.variables) = ("xy", "\(both) #", nil) }
    ),
    (
      "which of variables and extensions is absent", sample { ($0.name, $0.variables, $0.extensions) = (nil, "{\"a\":1}", nil) },
      sample { ($0.name, $0.variables, $0.extensions) = (nil, nil, "{\"a\":1}") }
    ),
    (
      "Authorization", sample { $0.headers.append(HeaderSample(name: "Authorization", value: "Bearer one", isSensitive: true)) },
      sample { $0.headers.append(HeaderSample(name: "Authorization", value: "Bearer two", isSensitive: true)) }
    ),
    (
      "the case of Authorization",
      sample { $0.headers.append(HeaderSample(name: "Authorization", value: "Bearer aBcD", isSensitive: true)) },
      sample { $0.headers.append(HeaderSample(name: "Authorization", value: "Bearer AbCd", isSensitive: true)) }
    ),
    (
      "the end of a long Authorization", sample { $0.headers.append(longToken("one")) },
      sample { $0.headers.append(longToken("two")) }
    ),
    (
      "white space in a text of the document", sample { $0.document = "{ search(text: \"a  b\") { id } }" },
      sample { $0.document = "{ search(text: \"a b\") { id } }" }
    ),
    (
      "a comma in a text of the document", sample { $0.document = "{ search(text: \"a, b\") { id } }" },
      sample { $0.document = "{ search(text: \"a b\") { id } }" }
    ),
    (
      "white space in a text of the variables", sample { $0.variables = "{\"text\":\"a  b\"}" },
      sample { $0.variables = "{\"text\":\"a b\"}" }
    ),
    (
      "the case of a text of the variables", sample { $0.variables = "{\"text\":\"Solaris\"}" },
      sample { $0.variables = "{\"text\":\"solaris\"}" }
    ),
    (
      "whether Authorization is there",
      sample { $0.headers.append(HeaderSample(name: "Authorization", value: "Bearer one", isSensitive: true)) }, sample { _ in }
    ),
  ]

  /// A token with the beginning that all web tokens of one issuer share.
  private static func longToken(_ end: String) -> HeaderSample {
    let issuer = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImJvb2tzIn0.\(String(repeating: "aXNz", count: 60))"
    return HeaderSample(name: "Authorization", value: "Bearer \(issuer)\(end)", isSensitive: true)
  }

  private static let both = "query A { a: books { id } } query B { b: books { id } } query y { a } query xy { b }"

  private static func sample(_ change: (inout OperationSample) -> Void) -> OperationSample {
    var sample = OperationSample()
    change(&sample)
    return sample
  }
  private static func long(_ end: String) -> String {
    "query Books { " + (0..<400).map { "f\($0): books { id } " }.joined() + end + ": books { id } }"
  }
  private static func longVariables(_ end: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: 9000))\",\"b\":\(end)}" }
}

extension Check {
  static let cacheWrites = Check(
    "SE10", level: 3, "a cache stores no failed results",
    page: Page(
      rule: """
        on_read never answers a result with errors, with CRB_RESULT_SYNTHETIC, or one that is only a part of a response. It answers
        neither mutations nor subscriptions. A stage that keeps responses keeps none that broke off, has a status of 400 or more, or says
        no-store.
        """,
      reason: "The next request may succeed. A cached failure prevents that.",
      example: "static crb_verdict on_write(…) { keep(key_of(call), result->json); … }",
      remedy: """
        Declare CRB_PART_ERRORS in `needs`, and store a result only if `errors` is absent and CRB_RESULT_SYNTHETIC is not set.
        """),
    .interceptor { trial in
      var hasAnswered = false
      for stage in trial.stages where stage.kind == .http || stage.kind == .graphQL {
        if try StoredAnswers(trial, stage).spoil() { hasAnswered = true }
      }
      guard let stage = trial.stages.first(where: { $0.kind == .cache }) else {
        guard hasAnswered else { throw TrialNotes.Skip("it has no cache stage, and answers no request with what it has kept") }
        return
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let bad: [(String, ResultSample)] = [
        ("a result with errors", ResultSample(errors: #"[{"message":"no"}]"#)),
        ("a result without data", ResultSample(data: nil, errors: #"[{"message":"no"}]"#)),
        ("a result a plugin made", ResultSample(flags: UInt32(CRB_RESULT_SYNTHETIC))),
        ("the first part of a deferred response", ResultSample(flags: UInt32(CRB_RESULT_HAS_NEXT))),
        ("a later part of a deferred response", ResultSample(flags: UInt32(CRB_RESULT_INCREMENTAL), path: "[]")),
      ]
      var subscription = OperationSample.subscription
      subscription.document = "# query\n\(subscription.document)"
      let others =
        OperationSample.mutations.map { ("mutation", $0) }
        + [OperationSample.subscription, subscription].map { ("subscription", $0) }
      for (name, operation) in others {
        let exchange = Exchange("a \(name)") { $0.operation = operation }
        trial.notes.expect(
          !trial.writeAndRead(exchange, stage, instance).isAnswered, "it answers a \(name) from the cache",
          at: trial.interceptor.id)
      }
      for (number, (name, sample)) in bad.enumerated() {
        let exchange = Exchange(name) {
          $0.operation.variables = #"{"bad":\#(number)}"#
          $0.results = [sample]
        }
        trial.notes.expect(
          !trial.writeAndRead(exchange, stage, instance).isAnswered, "it stores \(name) and answers with it",
          at: trial.interceptor.id)
      }
    })
}
