internal import CTestHost
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let undeclaredChanges = Check(
    "SE02", level: 3, "changes only what it declares",
    page: Page(
      rule: """
        With header_set(), field_set() and emit() a stage changes only parts that it has declared in `mutates`. If `mutates` is 0,
        every message stays the same byte for byte.
        """,
      reason: """
        Operators read `mutates` to know which plugins can change a request. A host refuses other changes with CRB_E_READONLY, so
        they are also lost.
        """,
      example: ".mutates = 0, .on_request = on_request          /* and on_request calls header_set() */",
      remedy: ".mutates = CRB_PART_HEADERS,"),
    .interceptor { trial in
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.mutates.isEmpty {
        for exchange in Exchange.usual {
          for passage in trial.travel([exchange], stage, instance) {
            let isSame = "\(passage.operation)\(passage.request)" == "\(exchange.operation)\(exchange.request)"
            trial.notes.expect(
              isSame, "the message has changed: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
      }
    })
}

extension Check {
  static let editedJSON = Check(
    "SE05", level: 3, "stages valid JSON and keeps unknown members",
    page: Page(
      rule: """
        Variables, extensions and results that a stage writes are JSON objects in UTF-8. Members of `extensions` that other code
        added stay. A text that a stage writes into a URL keeps each of its bytes. A result that a stage replaces keeps its data, in
        any order of members, and the digits of its numbers. The change to one text does not depend on how another one ends.
        """,
      reason: """
        All code shares the extensions: tracing, persisted queries and cost limits use them. A stage that replaces the object
        removes the members of others.
        """,
      example: #"""
        put(call, CRB_PART_EXTENSIONS, "{\"trace\":1}");
        """#,
      remedy: "Read the object, add your member, and write the whole object. Escape the content of strings."),
    .interceptor { trial in
      let exchange = Exchange("a query with extensions of others") {
        $0.operation.extensions = #"{"others":{"keep":[1,2,3]},"number":1e3}"#
      }
      // Without guarded pages, the parts of a result are ranges of its text, as in a host.
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages where stage.mutates.contains(.extensions) {
        for passage in trial.travel([exchange], stage, instance)
        where passage.operation.extensions != exchange.operation.extensions {
          let left = passage.operation.extensions.flatMap { try? JSONValue(parsing: $0) }
          trial.notes.expect(
            left?["others"]?["keep"]?.array?.count == 3 && left?["number"] != nil,
            "it removes members of extensions that are not its own",
            at: trial.interceptor.id)
        }
      }
      let varied = Exchange.varied(trial.words)
      keepsNumbers(trial, instance)
      try keepsQuery(trial, instance)
      for stage in trial.stages where stage.kind == .http && stage.mutates.contains(.url) { try keepsBytes(trial, stage) }
      try keepsTexts(trial)
      try? ParserTrial(trial).everyLongText {
        trial.notes.expect(
          $0, "of a body with a long text in another language it makes no result, or one that is not a JSON object",
          at: trial.interceptor.id)
      }
      for stage in trial.stages where stage.kind == .graphQL && stage.mutates.contains(.json) {
        for exchange in varied where exchange.results.count == 1 {
          judge(trial.travel([exchange], stage, instance)[0], exchange, trial)
        }
      }
      try trial.exercise(Exchange.usual + varied)
    })

  /// Sends numbers that a double cannot represent, among the members that the plugin looks for.
  private static func keepsNumbers(_ trial: InterceptorTrial, _ instance: TestHostInstance) {
    let usual = ["large": "9007199254740993", "exact": "0.1000000000000000055", "price": "12.50"]
    for stage in trial.stages where stage.mutates.contains(.variables) {
      for (value, numbers) in [#""x""#, "1", "1000000", "-1", "true", #"{"id":"1"}"#, #"["a","b"]"#].flatMap({ value in
        // A plugin may refuse a number that is too small for a double, and with it the whole object.
        [(value, usual), (value, ["small": "1e-400"])]
      }) {
        let own = trial.words.names.filter { numbers[$0] == nil }.map { "\"\($0)\":\(value)" } + [ForeignMembers.text]
        let exchange = Exchange("variables with large and exact numbers, and members of \(value)") {
          $0.operation.variables = "{\((numbers.map { "\"\($0)\":\($1)" } + own).joined(separator: ","))}"
        }
        let left = trial.travel([exchange], stage, instance)[0].operation.variables
        guard left != exchange.operation.variables, let members = left.flatMap({ StagedJSON.object(Array($0.utf8)) }) else {
          continue
        }
        let before = exchange.operation.variables.flatMap { try? JSONValue(parsing: $0) }
        if let lost = ForeignMembers.lost(from: before, to: .object(members)) {
          trial.notes.fail(
            "it loses or changes the member \(lost) of the variables, which is not its own", at: trial.interceptor.id)
        }
        for (name, before) in numbers {
          guard let after = members[name] else { continue }
          trial.notes.expect(
            after.number?.lexeme == before, "it changes the number \(before) of the variables into \(after)",
            at: trial.interceptor.id)
        }
      }
    }
  }

  /// Sends headers that differ in one letter outside of ASCII. A stage may write a header's value into the URL.
  private static func keepsBytes(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    /// The escapes that the stage writes into the URL for a letter; nil if it writes no header there.
    func written(_ letter: String) throws -> String? {
      let instance = try trial.instance()
      defer { instance.destroy() }
      // Each name is sent once, whatever its case, because a stage may refuse a repeated header.
      var seen: Set<String> = []
      let fields = trial.words.fields("zqa\(letter)zqz").filter { seen.insert($0.name.lowercased()).inserted }
      let exchange = Exchange("headers with the letter \(letter)") {
        $0.request.headers = [HeaderSample(name: "Content-Type", value: "application/json")] + fields
      }
      let target = trial.travel([exchange], stage, instance)[0].request.url
      guard let start = target.firstRange(of: "zqa"), let end = target[start.upperBound...].firstRange(of: "zqz") else {
        return nil
      }
      return String(target[start.upperBound..<end.lowerBound]).uppercased()
    }
    for (first, second) in [("ü", "ö"), ("\u{65E5}", "\u{672C}")] {
      // Some stages replace all letters outside of ASCII.
      guard let found = try written(first), found.contains(/%[89A-F]/), found != "%EF%BF%BD" else { continue }
      trial.notes.expect(
        try written(second) != found, "it writes the same escapes into a URL for \(first) and for \(second)",
        at: "\(trial.interceptor.id) http.on_request")
    }
  }

  /// Sends a URL with parameters that no plugin knows.
  private static func keepsQuery(_ trial: InterceptorTrial, _ instance: TestHostInstance) throws {
    for stage in trial.stages where stage.kind == .http && stage.mutates.contains(.url) {
      let exchange = Exchange("a URL with parameters of others") {
        $0.request.url = "https://books.example/graphql?zq=1&q=a%20b%2Bc"
      }
      let target = trial.travel([exchange], stage, instance)[0].request.url
      trial.notes.expect(
        target.contains("zq=1") && target.contains("q=a%20b%2Bc"),
        "it loses or changes parameters of a URL that are not its own: \(target.prefix(120).debugDescription)",
        at: "\(trial.interceptor.id) http.on_request")
      // The path of the URL as the stage leaves it. It must not depend on slashes in the parameters.
      func path(_ query: String) throws -> Substring {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let exchange = Exchange("a URL with the parameters \(query)") {
          $0.request.url = "https://books.example/graphql?\(query)"
        }
        let target = trial.travel([exchange], stage, instance)[0].request.url
        // The stage may choose another server for each request.
        let place = target.firstRange(of: "://").map { target[$0.upperBound...] } ?? target[...]
        return place.drop { $0 != "/" && $0 != "?" }.prefix { $0 != "?" }
      }
      let usual = try path("zq=1")
      guard !trial.options.capabilities.contains("varies"), try path("zq=1") == usual else { continue }
      for query in ["zq=/a/b", "zq=https://other.example/c", "zq=a?b"] {
        trial.notes.expect(
          try path(query) == usual, "it takes the parameters \(query) of a URL for a part of its path",
          at: "\(trial.interceptor.id) http.on_request")
      }
    }
  }

  /// Sends a text after others that end in an escaped backslash or quotation mark. A plugin may take the escape for the end of a
  /// text.
  private static func keepsTexts(_ trial: InterceptorTrial) throws {
    let ends = ["a", #"a\\\\"#, #"a\""#, #"a\\\""#]
    for stage in trial.stages where !stage.mutates.isDisjoint(with: [.variables, .json, .body, .chunk]) {
      let texts = try ends.map { end -> [JSONValue?] in
        let own = trial.words.names.filter { !["alpha", "omega", "list"].contains($0) }.map { "\"\($0)\" : \"a\" , " }.joined()
        let object = #"{ "alpha" : "\#(end)" , \#(own)"omega" : "two  words , { \" more }" , "list" : [ "x  y" ] }"#
        let exchange = Exchange("a text that ends in \(end.suffix(2))") {
          $0.operation.variables = object
          $0.results = [ResultSample(data: object)]
          $0.request.body = Array(#"{ "query" : "{ books { id } }" , "variables" : \#(object) }"#.utf8)
          $0.chunks = [Array(#"{ "data" : \#(object) }"#.utf8)]
        }
        let instance = try trial.instance()
        defer { instance.destroy() }
        let passage = trial.travel([exchange], stage, instance)[0]
        func read(_ bytes: [UInt8]?) -> JSONValue? { bytes.flatMap(StagedJSON.object).map(JSONValue.object) }
        func texts(_ object: JSONValue?) -> JSONValue? {
          object.map { object in
            .array((["omega", "list"] + trial.words.names).map { $0 == "alpha" ? .null : object[$0] ?? .null })
          }
        }
        return [
          texts(read(passage.operation.variables.map { Array($0.utf8) })),
          texts(read(passage.request.body)?["variables"]),
          texts(read(passage.elements.flatMap(\.bytes))?["data"]),
          .string("\(passage.steps.map { Verdict.name($0.verdict) })"),
        ]
      }
      for (end, found) in zip(ends, texts) where found != texts[0] {
        trial.notes.fail(
          "it changes or refuses the text after one that ends in \(end.suffix(2))",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    }
  }

  /// Compares a replaced result with its original.
  private static func judge(_ passage: ExchangeResult, _ exchange: Exchange, _ trial: InterceptorTrial) {
    guard let sample = exchange.results.first, let step = passage.steps(of: .onResult).first, step.verdict == Verdict.continue,
      let left = step.staged.elements.first.flatMap({ StagedJSON.object($0.bytes) }).map(JSONValue.object)
    else { return }
    let place = "\(trial.interceptor.id) graphql.on_result"
    let data = sample.data.flatMap { try? JSONValue(parsing: $0) }
    trial.notes.expect(
      data?.object == nil || left["data"]?.object != nil, "it loses the data of a result: \(exchange.name)", at: place)
    trial.notes.expect(
      sample.extensions == nil || left["extensions"]?["others"]?["keep"]?.int == 1,
      "it removes members of the extensions of a result that are not its own", at: place)
    for name in trial.words.names {
      guard let before = data?[name]?.number?.lexeme, before.utf8.count > 10, let after = left["data"]?[name] else { continue }
      let digits = after.number?.lexeme ?? after.string ?? ""
      trial.notes.expect(
        digits == before || digits.utf8.count < 8 || digits.contains { !($0.isNumber || ".eE+-".contains($0)) },
        "it changes the number \(before) into \(digits)", at: place)
    }
    if data?.object != nil, let lost = ForeignMembers.lost(from: data, to: left["data"]) {
      trial.notes.fail("it loses or changes the member \(lost) of a result, which is not its own: \(exchange.name)", at: place)
    }
    for name in ["large", "exact"] {
      guard let before = data?[name]?.number, let after = left["data"]?[name] else { continue }
      trial.notes.expect(after.number == before, "it changes the number \(before) into \(after)", at: place)
    }
  }
}

extension Check {
  static let sameAnswers = Check(
    "SE14", level: 4, "gives the same output for the same input",
    page: Page(
      rule: """
        The same request twice, each on a new instance, has the same answers; otherwise the note declares
        "capabilities":["varies"]. A difference is a warning.
        """,
      reason: """
        Varying answers cannot be replayed, compared or cached. Stages that sign with the time, or choose at random, must declare
        it.
        """,
      example: "qsort_r(fields, n, sizeof *fields, by_address, NULL);",
      remedy: """
        Sort by content, not by address. Use no time and no random number without need, or declare it in the note.
        """),
    .interceptor { trial in
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      for stage in trial.stages {
        let runs = try (0..<2).map { number -> [String] in
          // Uninitialized memory has other bytes in each run.
          CTestHost_overwriteFreed(number == 0 ? 0x5A : 0xA7)
          let instance = try trial.instance()
          defer { instance.destroy() }
          return trial.travel(Exchange.usual, stage, instance).map(\.fingerprint)
        }
        for (index, exchange) in Exchange.usual.enumerated() where runs[0][index] != runs[1][index] {
          trial.notes.warn(
            "its second answer differs: \(exchange.name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })
}
