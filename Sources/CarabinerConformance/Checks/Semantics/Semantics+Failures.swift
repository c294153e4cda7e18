internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let keptFailures = Check(
    "SE18", level: 3, "turns no failure into a success",
    page: Page(
      rule: """
        A status of 400 or more stays one. A result with errors keeps errors. RECOVER stages data only if the stage has it: a new
        instance, which has seen no result, has none. A mutation that failed has none either, although an equal one has succeeded
        before.
        """,
      reason: "Data is lost without an error, caches keep the empty result, and monitoring shows a healthy server.",
      example: #"""
        if (head->status >= 500) { crb_head ok = *head; ok.status = 200; host->set_head(call, &ok); }
        """#,
      remedy: "Pass failures on, or replace them by other failures: set_error() and CRB_FAIL, or a result with `errors`."),
    .interceptor { trial in
      for stage in trial.stages {
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let instance = try trial.instance()
        defer { instance.destroy() }
        if stage.kind == .http { keepsStatus(trial, stage, instance, place) }
        if stage.kind == .graphQL { keepsErrors(trial, stage, instance, place) }
      }
    })

  private static func keepsStatus(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String) {
    for status: UInt32 in [400, 401, 403, 404, 429, 500, 502, 503] {
      let exchange = Exchange("status \(status)") { $0.head.status = status }
      for step in trial.travel([exchange], stage, instance)[0].steps(of: .onHead) where step.verdict == Verdict.continue {
        guard let changed = step.staged.head?.status, changed < 400 else { continue }
        trial.notes.fail("it turns the status \(status) into \(changed)", at: "\(place).on_head")
      }
    }
  }

  private static func keepsErrors(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String) {
    for usual in [Exchange.usual[0], Exchange.mutation, Exchange.usual[2]] {
      var exchange = usual
      exchange.results = []
      exchange.ending = .error(ErrorSample())
      for step in trial.travel([exchange], stage, instance)[0].steps(of: .onError) where step.verdict == Verdict.recover {
        guard !step.staged.elements.contains(where: { hasErrors($0.bytes) }) else { continue }
        trial.notes.fail(
          "on_error recovers with a result without errors, although it has seen no result", at: "\(place).on_error")
      }
    }
    for ending in [Exchange.unavailable.ending, Exchange.disconnected.ending] {
      _ = trial.travel([Exchange.mutation], stage, instance)
      var failed = Exchange.mutation
      failed.name = "a mutation that fails, after an equal one"
      failed.results = []
      failed.ending = ending
      for step in trial.travel([failed], stage, instance)[0].steps(of: .onError) where step.verdict == Verdict.recover {
        guard !step.staged.elements.contains(where: { hasErrors($0.bytes) }) else { continue }
        trial.notes.fail("it answers a mutation that failed with the result of an earlier one", at: "\(place).on_error")
      }
    }
    let members = trial.words.names.map { "\"\($0)\":\"x\"" }.joined(separator: ",")
    for data in [nil, "null", "{\"books\":null}", "{\(members)}"] as [String?] {
      let exchange = Exchange("a result with errors and the data \(data?.prefix(20) ?? "absent")") {
        $0.results = [ResultSample(data: data, errors: #"[{"message":"no"}]"#)]
      }
      for step in trial.travel([exchange], stage, instance)[0].steps(of: .onResult) where step.verdict != Verdict.fail {
        let elements = step.staged.elements
        guard !elements.isEmpty, !elements.contains(where: { hasErrors($0.bytes) }) else { continue }
        trial.notes.fail("it removes the errors of a result", at: "\(place).on_result")
      }
    }
  }

  private static func hasErrors(_ bytes: [UInt8]) -> Bool {
    StagedJSON.object(bytes)?["errors"]?.array?.isEmpty == false
  }
}

extension Check {
  static let staleProperties = Check(
    "SE19", level: 3, "leaves no length or hash of what it has changed",
    page: Page(
      rule: """
        A stage that changes a body removes or corrects its Content-Length and its digest, and a stage that changes a document
        removes or corrects `persistedQuery` in the extensions. A body with a Content-Encoding that a stage does not decode stays as
        it is.
        """,
      reason: """
        The next stage, or the server, trusts the old length or hash: it cuts the body, waits for more of it, or runs and stores
        another document than the one that was sent.
        """,
      example: "host->field_set(call, CRB_PART_BODY, longer);",
      remedy: """
        host->header_set(call, text("Content-Length"), (crb_view){ NULL, 0 }, 0);        /* the host sets it */
        """),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      let (words, place) = (trial.words, trial.interceptor.id)
      for stage in trial.stages where stage.kind == .http || stage.kind == .graphQL {
        for varied in Exchange.usual.prefix(3) + Exchange.varied(words) + prefixed {
          var exchange = varied
          exchange.operation.extensions =
            exchange.operation.extensions ?? #"{"persistedQuery":{"version":1,"sha256Hash":"\#(hash)"}}"#
          let length = exchange.chunks.reduce(0) { $0 + $1.count }
          exchange.request.headers.append(HeaderSample(name: "Content-Length", value: "\(exchange.request.body?.count ?? 0)"))
          exchange.head.headers.removeAll { $0.name == "Content-Length" }
          exchange.head.headers.append(HeaderSample(name: "Content-Length", value: "\(length)"))
          let passage = trial.travel([exchange], stage, instance)[0]
          if stage.kind == .graphQL {
            let isChanged = passage.operation.document != exchange.operation.document
            trial.notes.expect(
              !isChanged || storedHash(passage.operation.extensions) == nil
                || storedHash(passage.operation.extensions) != storedHash(exchange.operation.extensions),
              "it changes the document and leaves the hash of the old one in persistedQuery", at: "\(place) graphql.on_request")
            continue
          }
          if let body = passage.request.body, passage.request.body != exchange.request.body {
            judge(passage.request.headers, body.count, "the request", trial, "\(place) http.on_request")
          }
          // If a response breaks off, a stage may never forward what it holds back.
          guard case .end = exchange.ending else { continue }
          if stage.seesChunks, let body = passage.body(of: exchange), body != Array(exchange.chunks.joined()),
            let head = passage.steps(of: .onHead).last?.staged.head ?? passage.head
          {
            judge(head.headers, body.count, "the response", trial, "\(place) http")
          }
        }
        if stage.kind == .http, stage.seesChunks { keepsEncodings(trial, stage, instance, "\(place) http") }
      }
    })

  /// Prefixes that servers put in front of JSON, so that no page can run it as a script.
  static let prefixes = ["\u{FEFF}", ")]}',\n", ")]}'\n", "while(1);", "for(;;);", "\r\n "]

  /// Bodies with each of these prefixes.
  private static let prefixed = prefixes.map { prefix in
    Exchange("a body after \(prefix.debugDescription)") {
      $0.chunks = [Array("\(prefix){\"data\":{\"books\":[]}}".utf8)]
      $0.isMalformed = true
    }
  }

  private static let digests = ["content-digest", "repr-digest", "digest", "content-md5"]

  /// Sends bodies with a digest, and bodies with a Content-Encoding whose encoded bytes look like texts that the plugin replaces.
  private static func keepsEncodings(
    _ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance, _ place: String
  ) {
    let json = "{\"data\":\(EverydayText.object(trial.words))}"
    let fields = digests.map { HeaderSample(name: $0, value: "sha-256=:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=:") }
    let plain = prefixes.map { ($0 + json, nil as String?) }
    for (text, encoding) in plain + [(json, nil), (json, "br"), (json, "x-own")] {
      let exchange = Exchange("a body with the encoding \(encoding ?? "none")") {
        $0.head.headers = [HeaderSample(name: "Content-Type", value: "application/json")]
        $0.head.headers += encoding.map { [HeaderSample(name: "Content-Encoding", value: $0)] } ?? fields
        $0.chunks = [Array(text.utf8)]
      }
      let passage = trial.travel([exchange], stage, instance)[0]
      guard let body = passage.body(of: exchange), body != Array(text.utf8),
        let head = passage.steps(of: .onHead).last?.staged.head ?? passage.head
      else { continue }
      let left = Set(head.headers.map { $0.name.lowercased() })
      if let encoding {
        trial.notes.expect(
          !left.contains("content-encoding"), "it changes a body with the Content-Encoding \(encoding), which it has not decoded",
          at: place)
      } else if let digest = digests.first(where: { left.contains($0) }), head.headers.contains(fields[0]) {
        trial.notes.fail("it changes a body and leaves its old \(digest)", at: place)
      }
    }
  }

  private static let hash = String(repeating: "0f", count: 32)

  private static func storedHash(_ extensions: String?) -> String? {
    extensions.flatMap { StagedJSON.object(Array($0.utf8)) }?["persistedQuery"]?["sha256Hash"]?.string
  }

  private static func judge(_ headers: [HeaderSample], _ count: Int, _ name: String, _ trial: InterceptorTrial, _ place: String) {
    for field in headers where field.name.lowercased() == "content-length" && field.value != "\(count)" {
      trial.notes.fail("it changes the body of \(name) and leaves its old Content-Length", at: place)
    }
  }
}
