internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let unusualOperations = Check(
    "SE04", level: 3, "handles operations without a name or variables, and uploads",
    page: Page(
      rule: """
        A stage that passes a named query with variables also passes an anonymous query and a query without variables. A stage that
        passes requests also passes an upload, whose body it cannot read, or refuses it with an error whose message is about
        uploads.
        """,
      reason: """
        All of them are legal. field_get() answers CRB_E_NOTFOUND for an absent part, and CRB_E_UNSUPPORTED for the body of an
        upload. Neither is an error of the request.
        """,
      example: "if (host->field_get(call, CRB_PART_OPERATION_NAME, &name) != CRB_OK) return CRB_FAIL;",
      remedy: #"""
        crb_view name = { NULL, 0 };
        crb_status status = host->field_get(call, CRB_PART_OPERATION_NAME, &name);
        if (status != CRB_OK && status != CRB_E_NOTFOUND) return CRB_FAIL;
        """#),
    .interceptor { trial in
      let kinds: [Exchange] = [
        Exchange("an anonymous query") { $0.operation.name = nil },
        Exchange("a query without variables") { $0.operation.variables = nil },
        Exchange("a query with empty variables") { $0.operation.variables = "{}" },
        Exchange("an anonymous query without variables") {
          $0.operation.name = nil
          $0.operation.variables = nil
        },
      ]
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        guard trial.travel([Exchange("a query")], stage, instance).allSatisfy({ $0.verdict != Verdict.fail }) else { continue }
        for (exchange, passage) in zip(kinds, trial.travel(kinds, stage, instance)) where passage.verdict == Verdict.fail {
          trial.notes.fail(
            "it passes a named query with variables but fails \(exchange.name): \(passage.steps.last?.staged.failure?.message ?? "no error")",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
      for stage in trial.stages where stage.kind == .http && stage.needs.contains(.body) { passesUploads(trial, stage, instance) }
    })

  /// Sends the upload of a file, whose body no stage can read.
  private static func passesUploads(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    func last(_ exchange: Exchange) -> ExchangeResult.Step? {
      trial.travel([exchange], stage, instance)[0].steps(of: .onRequest).last
    }
    let type = HeaderSample(name: "Content-Type", value: "multipart/form-data; boundary=zq")
    let plain = Exchange("a request with a body") { $0.request.headers[0] = type }
    let upload = Exchange("an upload") {
      $0.request.headers[0] = type
      $0.request.isUpload = true
    }
    // If the stage also refuses the second plain request, it limits the number of calls.
    guard last(plain)?.verdict == Verdict.continue, let step = last(upload), step.verdict == Verdict.fail,
      last(plain)?.verdict == Verdict.continue
    else { return }
    let failure = step.staged.failure
    let message = failure?.message ?? "no error"
    // A stage may need the body. In this case, its message says so, or its status is 400 to 499.
    let isExplained =
      failure.map { (400..<500).contains($0.httpStatus) } == true
      || ["body", "upload", "multipart", "file", "stream"].contains(where: message.lowercased().contains)
    trial.notes.expect(
      isExplained, "it fails an upload, whose body cannot be read: \(message)", at: "\(trial.interceptor.id) http.on_request")
  }
}

extension Check {
  /// Checks that the fields Set-Cookie are neither joined nor partly removed.
  private static func keepsCookies(_ exchange: Exchange, _ passage: ExchangeResult, _ trial: InterceptorTrial, _ place: String) {
    func cookies(_ headers: [HeaderSample]) -> [String] { headers.filter { $0.name.lowercased() == "set-cookie" }.map(\.value) }
    guard let head = passage.steps(of: .onHead).last?.staged.head ?? passage.head else { return }
    let (before, after) = (cookies(exchange.head.headers), cookies(head.headers))
    let kept = before.filter { value in after.contains { $0.contains(value) } }
    trial.notes.expect(
      !after.contains { value in before.count { value.contains($0) } > 1 },
      "it joins the fields Set-Cookie into one, which clients cannot split",
      at: place)
    trial.notes.expect(
      after.isEmpty || kept.count == before.count || kept.isEmpty && after.count >= before.count,
      "of \(before.count) fields Set-Cookie it leaves \(kept.count)", at: place)
  }

  /// Headers whose repeated fields form one list.
  private static let lists = [
    "tracestate", "baggage", "via", "forwarded", "x-forwarded-for", "cache-control", "vary", "link", "accept", "accept-encoding",
    "accept-language", "server-timing", "warning", "prefer", "cookie",
  ]

  /// Sends lists in two fields. A stage may wrongly read only the first field.
  private static func keepsLists(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String) {
    for (name, separator) in lists.map({ ($0, $0 == "cookie" ? "; " : ",") }) {
      let fields = ["zqone=1\(separator)zqtwo=2", "zqthree=3"].map { HeaderSample(name: name, value: $0) }
      let exchange = Exchange("the list \(name) in two fields") {
        let others = HeaderSample.browser.filter { $0.name.lowercased() != name }
        $0.operation.headers = others + fields
        $0.request.headers = others + fields
        $0.head.headers += fields
      }
      let passage = trial.travel([exchange], stage, instance)[0]
      for headers in [passage.operation.headers, passage.request.headers, passage.head?.headers ?? []] {
        let text = headers.filter { $0.name.lowercased() == name }.map(\.value).joined(separator: " ")
        let kept = ["zqone=1", "zqtwo=2", "zqthree=3"].map(text.contains)
        trial.notes.expect(
          kept[2] || !kept[0], "of a list \(name) in two fields it loses the members of the second one", at: place)
        trial.notes.expect(
          name != "vary" || text.isEmpty || kept.contains(true) || text.contains("*"),
          "it replaces the fields Vary of a response, which a cache needs whole", at: place)
      }
    }
  }

  /// Fields that no plugin knows.
  private static let foreignFields = [
    HeaderSample(name: "Zq-First", value: "one"), HeaderSample(name: "zq-second", value: "two"),
    HeaderSample(name: "Zq-First", value: "three, 3"),
  ]
  private static let contentTypes = [
    "application/json", "application/graphql-response+json; charset=utf-8", "text/html", "text/plain", "text/event-stream",
  ]

  /// Sends fields that no plugin knows, in messages of every kind.
  private static func keepsForeignFields(
    _ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String
  ) {
    let statuses: [UInt32] = [200, 204, 304, 400, 401, 404, 422, 429, 500, 503]
    let exchanges = statuses.flatMap { status in
      contentTypes.map { type in
        Exchange("status \(status) of \(type)") {
          $0.head.status = status
          $0.head.headers = [HeaderSample(name: "Content-Type", value: type)] + foreignFields
          $0.operation.headers += foreignFields
          $0.request.headers += foreignFields
        }
      }
    }
    func known(_ headers: [HeaderSample]) -> [HeaderSample] { headers.filter { $0.name.lowercased().hasPrefix("zq-") } }
    for exchange in exchanges {
      let passage = trial.travel([exchange], stage, instance)[0]
      // An answer that replaces the server's response has its own fields.
      guard !passage.steps.contains(where: { $0.verdict == Verdict.fail || $0.verdict == Verdict.respond }) else { continue }
      let head: HeadSample? = stage.kind == .http ? passage.steps(of: .onHead).last?.staged.head ?? passage.head : nil
      // An error page of the stage also replaces the server's response.
      let isReplaced =
        head.map { $0.status >= 400 && $0.status != exchange.head.status } ?? false
        && passage.body(of: exchange) != Array(exchange.chunks.joined())
      let messages = [
        ("an operation", passage.operation.headers), ("a request", passage.request.headers),
        ("a response with \(exchange.name)", isReplaced ? foreignFields : head?.headers ?? foreignFields),
      ]
      for (name, headers) in messages where known(headers) != foreignFields {
        trial.notes.fail(
          "it loses or changes fields of \(name) that are not its own: \(foreignFields.count) became \(known(headers).count)",
          at: place)
      }
    }
  }

  static let headerNames = Check(
    "SE06", level: 3, "accepts header names in any case, and keeps duplicates",
    page: Page(
      rule: """
        A stage compares header names without regard to case. Fields that it does not change stay as they are, including
        duplicates and their order. Fields that it sets are legal headers. It adds to Vary, and does not replace it.
        """,
      reason: """
        HTTP/2 sends names in lower case, and older servers use any case. Set-Cookie may come several times, and each field
        counts.
        """,
      example: #"""
        if (memcmp(headers[i].name.ptr, "Content-Type", 12) == 0) …
        """#,
      remedy: """
        Read with header_get(), which compares like HTTP. Set with header_set(), and add CRB_HEADER_APPEND if a field may come
        more than once. Check values for CR, LF and NUL before you set them. To change a status with set_head(), copy the fields.
        """),
    .interceptor { trial in
      let names = trial.words.names
      func sample(_ change: @escaping (String) -> String) -> Exchange {
        Exchange("headers in another case") { exchange in
          func addNames(to headers: inout [HeaderSample]) {
            for name in names where !headers.contains(where: { $0.name.lowercased() == name.lowercased() }) {
              headers.append(HeaderSample(name: name, value: "a=1"))
            }
          }
          addNames(to: &exchange.operation.headers)
          addNames(to: &exchange.request.headers)
          addNames(to: &exchange.head.headers)
          for index in exchange.request.headers.indices {
            exchange.request.headers[index].name = change(exchange.request.headers[index].name)
          }
          for index in exchange.head.headers.indices {
            exchange.head.headers[index].name = change(exchange.head.headers[index].name)
          }
          for index in exchange.operation.headers.indices {
            exchange.operation.headers[index].name = change(exchange.operation.headers[index].name)
          }
        }
      }
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let samples = [sample { $0 }, sample { $0 }, sample { $0.lowercased() }, sample { $0.uppercased() }]
        // The samples are sent twice, because fields with times or random parts may be equal by chance. SE14 reports such fields.
        let answers = try (samples + samples).map { exchange -> (verdicts: [String], fields: [String]) in
          let instance = try trial.instance()
          defer { instance.destroy() }
          let passage = trial.travel([exchange], stage, instance)[0]
          let before = exchange.request.headers.filter { $0.name.lowercased() == "x-double" }.map(\.value)
          let after = passage.request.headers.filter { $0.name.lowercased() == "x-double" }.map(\.value)
          trial.notes.expect(before == after, "a header that came twice, with \(before), now has \(after)", at: place)
          keepsCookies(exchange, passage, trial, place)
          let fields = [passage.operation.headers, passage.request.headers, passage.head?.headers ?? []].map { headers in
            headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
          }
          let verdicts = passage.steps.map { "\($0.hook.name) \($0.verdict) \($0.staged.elements.count)" }
          return (verdicts, fields)
        }
        let instance = try trial.instance()
        keepsForeignFields(trial, stage, instance, place)
        keepsLists(trial, stage, instance, place)
        instance.destroy()
        let isSteady =
          answers[0].fields == answers[1].fields
          && answers.prefix(samples.count).map(\.fields) == answers.suffix(samples.count).map(\.fields)
        trial.notes.expect(
          Set(answers.map(\.verdicts)).count == 1 && (!isSteady || Set(answers.map(\.fields)).count == 1),
          "its answers change with the case of header names", at: place)
      }
      try trial.exercise(Exchange.usual + controlCharacters(trial.words))
    })

  /// Operations whose JSON contains escaped line ends and NUL, in members that a plugin may write into a header.
  private static func controlCharacters(_ words: Vocabulary) -> [Exchange] {
    let usual = ["client", "clientInfo", "version", "app", "user", "tenant", "locale", "operation"]
    let names = words.names + usual.filter { !words.names.contains($0) }
    let text = #""a b\r\nc\u0000d""#
    let inner = "{" + names.map { "\($0.json):\(text)" }.joined(separator: ",") + "}"
    return [("members", text), ("members of objects", inner)].map { name, value in
      Exchange("\(name) of extensions and variables with control characters") {
        let object = "{" + names.map { "\($0.json):\(value)" }.joined(separator: ",") + "}"
        $0.operation.extensions = object
        $0.operation.variables = object
      }
    }
  }
}

extension Check {
  /// Sends the same body with one media type in several spellings.
  private static func comparesTypes(_ trial: InterceptorTrial, _ stage: StageHooks) throws {
    guard !trial.options.capabilities.contains("varies") else { return }
    for type in ["application/json", "application/graphql-response+json", "text/html", "text/event-stream"] {
      func answer(_ type: String) throws -> String {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let exchange = Exchange("a body of \(type)") {
          if type.lowercased().hasPrefix("text/event") { $0.operation = OperationSample.subscription }
          $0.head.headers = [HeaderSample(name: "Content-Type", value: type)]
          $0.chunks = [Array("{\"data\":\(EverydayText.object(trial.words))}".utf8)]
          $0.isMalformed = true
        }
        let passage = trial.travel([exchange], stage, instance)[0]
        let verdicts = passage.steps.map { Verdict.name($0.verdict) }.joined(separator: " ")
        return verdicts
          + passage.steps.map { $0.staged.elements.map { String(decoding: $0.bytes, as: UTF8.self) }.joined() }.joined()
      }
      let usual = try answer(type)
      guard try answer(type) == usual else { continue }
      for spelling in ["\(type); charset=utf-8", "\(type);charset=\"UTF-8\"", type.uppercased(), "\(type) ; charset=utf-8"] {
        trial.notes.expect(
          try answer(spelling) == usual, "it answers a body of \(type) in another way than one of \(spelling)",
          at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      }
    }
  }

  static let anyStatus = Check(
    "SE07", level: 3, "handles every status code",
    page: Page(
      rule: """
        A stage handles heads with status 100, 103, 204, 301, 304, 400, 404, 500 and 599, with and without a content type, with
        and without headers. It compares media types without regard to case and parameters.
        """,
      reason: """
        204 and 304 have no body, 1xx is not the end of a response, and a proxy's error page is HTML. A stage that expects JSON
        fails for them.
        """,
      example: #"""
        crb_view type; host->header_get(call, text("Content-Type"), &type);  if (type.ptr[0] == 'a') …   /* there is none */
        """#,
      remedy: "Check the answer of header_get(), and pass content of other types."),
    .interceptor { trial in
      let statuses: [UInt32] = [100, 103, 200, 204, 301, 304, 400, 404, 500, 599]
      try trial.exercise(Exchange.varied(trial.words))
      for stage in trial.stages where stage.kind == .http || stage.kind == .parsing { try comparesTypes(trial, stage) }
      try trial.exercise(
        statuses.flatMap { status -> [Exchange] in
          [
            Exchange("status \(status)") { $0.head.status = status },
            Exchange("status \(status) without a content type") {
              $0.head.status = status
              $0.head.headers.removeAll { $0.name == "Content-Type" }
            },
            Exchange("status \(status) without headers and body") {
              $0.head.status = status
              $0.head.headers = []
              $0.chunks = []
            },
          ]
        })
    })
}
