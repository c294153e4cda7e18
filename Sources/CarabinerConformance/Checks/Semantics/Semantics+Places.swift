internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let everyPlace = Check(
    "SE23", level: 3, "changes a text wherever it is",
    page: Page(
      rule: """
        A stage that hides or changes a text in results or bodies does so in each place: in objects and lists in others, a second time, with
        white space around it, after a long text, beside errors, and in each result of a subscription.
        """,
      reason: "A mail address that is hidden in its first place and not in its second one is not hidden.",
      example: "char *found = strstr(json, \"\\\"email\\\":\\\"\");        /* the first one, without white space */",
      remedy: "Read the result as JSON, from its beginning to its end, and look at each member by its name."),
    .interceptor { trial in
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let stages = trial.stages.filter {
        $0.kind == .graphQL ? $0.mutates.contains(.json) : $0.kind == .http && $0.mutates.contains(.chunk)
      }
      guard !stages.isEmpty else { throw TrialNotes.Skip("none of its stages changes results or bodies") }
      for stage in stages {
        let own = trial.words.names.enumerated().map { ($1, "zqvalue\($0)x") }
        let forms = EverydayText.all.enumerated().map { ("zqform\($0)", $1) }
        for members in [own, forms] {
          let changed = try members.filter { try !output(trial, stage, places[0].1(members)).contains($0.1.inside) }
          guard !changed.isEmpty else { continue }
          for (name, place) in places.dropFirst() {
            let text = try output(trial, stage, place(changed))
            for member in changed where text.contains(member.1.inside) {
              trial.notes.fail(
                "it changes the text of \(member.0.hasPrefix("zq") ? member.1.debugDescription : member.0) in a result, and not \(name)",
                at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
            }
          }
        }
      }
    })

  /// Places of members in a result. The first one is the plainest.
  private static var places: [(String, ([(String, String)]) -> Exchange)] {
    func list(_ members: [(String, String)], _ colon: String = ":", _ comma: String = ",") -> String {
      members.map { "\($0.json)\(colon)\($1.json)" }.joined(separator: comma)
    }
    func result(_ data: String, _ change: @escaping (inout Exchange) -> Void = { _ in }) -> Exchange {
      Exchange("a result with texts to change") {
        $0.results = [ResultSample(data: data)]
        $0.chunks = [Array("{\"data\":\(data)}".utf8)]
        change(&$0)
      }
    }
    return [
      ("in its data", { result("{\(list($0))}") }), ("in an object in it", { result("{\"outer\":{\(list($0))}}") }),
      ("in the second object of a list", { result("{\"list\":[{\"id\":1},{\(list($0))}]}") }),
      ("a second time", { result("{\"zqfirst\":{\(list($0))},\"zqsecond\":{\(list($0))}}") }),
      ("with white space around it", { result("{ \(list($0, " :\n\t", " ,\n ")) }") }),
      ("after a long text", { result("{\"zqlong\":\"\(String(repeating: "word ", count: 30_000))\",\(list($0))}") }),
      (
        "in twenty objects in others",
        { result(String(repeating: "{\"zqdeep\":", count: 20) + "{\(list($0))}" + String(repeating: "}", count: 20)) }
      ),
      (
        "beside errors",
        { members in
          result("{\(list(members))}") {
            $0.results[0].errors = #"[{"message":"no books today","path":["books"]}]"#
            $0.chunks = [Array("{\"data\":{\(list(members))},\"errors\":[{\"message\":\"no\"}]}".utf8)]
          }
        }
      ),
      (
        "in each result of a subscription",
        { members in
          result("{\(list(members))}") {
            $0.operation = OperationSample.subscription
            $0.results = Array(repeating: ResultSample(data: "{\(list(members))}", flags: UInt32(CRB_RESULT_HAS_NEXT)), count: 3)
          }
        }
      ),
      (
        "in a later part of a deferred response",
        { members in
          result("{\"id\":1}") {
            $0.results = [
              ResultSample(data: "{\"id\":1}", flags: UInt32(CRB_RESULT_HAS_NEXT)),
              ResultSample(data: "{\(list(members))}", flags: UInt32(CRB_RESULT_INCREMENTAL), path: #"["books",0]"#),
            ]
            $0.chunks = [Array("{\"data\":{\(list(members))}}".utf8)]
          }
        }
      ),
    ]
  }

  /// The results or the body that leave the stage.
  private static func output(_ trial: InterceptorTrial, _ stage: StageHooks, _ exchange: Exchange) throws -> String {
    let instance = try trial.instance()
    defer { instance.destroy() }
    let passage = trial.travel([exchange], stage, instance)[0]
    if stage.kind == .http { return String(decoding: passage.body(of: exchange) ?? [], as: UTF8.self) }
    let steps = passage.steps(of: .onResult).filter { $0.verdict == Verdict.continue }
    return zip(exchange.results, steps).map { sample, step in
      step.staged.elements.isEmpty ? sample.json : step.staged.elements.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
    }
    .joined(separator: "\n")
  }
}

extension String {
  /// The text as it is between the quotation marks of JSON.
  fileprivate var inside: String { String(json.dropFirst().dropLast()) }
}
