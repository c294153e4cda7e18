internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import FoundationEssentials

extension Check {
  static let separateCallers = Check(
    "SE17", level: 3, "gives the data of one caller to no other",
    page: Page(
      rule: """
        Nothing of the headers, variables, bodies and results of one caller appears in the messages of another, whether the calls
        follow each other or overlap. Callers differ in their Authorization. A cache answers a request only with a result for the
        same Authorization. A header that a stage sets to the user of a token does not stay as the client has sent it if there is no
        token; one that stays is a warning.
        """,
      reason:
        "A token, a cookie or a result then reaches another user. It happens only under load, so no test of one call finds it.",
      example: """
        static char line[4096];                                            /* one buffer for all calls */
        """,
      remedy: """
        Keep what belongs to a call in its state. Keys of caches, sessions and limits contain the whole Authorization, or a SHA-256 of
        it, and not its length or its first bytes.
        """),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      var generator = SeededGenerator(trial.options.seed)
      let words = trial.words
      for (stage, isBasic) in trial.stages.flatMap({ [($0, false), ($0, true)] }) {
        let instance = try trial.instance()
        defer { instance.destroy() }
        let place = "\(trial.interceptor.id) \(stage.kind.rawValue)"
        let callers = (0..<2).map { _ in Caller(words, isBasic: isBasic, &generator) }
        let visitor = callers[1].exchange(hasHeaders: false)
        // This caller sends only credentials, so that headers that a plugin adds for a caller are visible.
        let sparing = callers[1].exchange(hasOnlyCredentials: true)
        @Sendable func judge(_ passage: ExchangeResult, _ owner: Int, _ how: String) {
          guard let found = callers[owner].secrets.find(in: Array(passage.fingerprint.utf8)) else { return }
          trial.notes.fail("\(how), a message of another caller has \(found)", at: place)
        }
        let (first, second) = (callers[0].exchange(), callers[1].exchange())
        for exchange in [second, visitor, sparing] {
          _ = trial.travel([first], stage, instance)
          judge(trial.travel([exchange], stage, instance)[0], 0, "after a call")
        }
        // A subscription with several results comes first. The next one breaks off after its first result.
        _ = trial.travel([callers[0].exchange(results: 3)], stage, instance)
        var broken = callers[1].exchange(results: 1)
        broken.ending = .error(ErrorSample())
        judge(trial.travel([broken], stage, instance)[0], 0, "after a subscription")
        // A plugin may keep a result in order to answer a call that fails.
        for ending in [Exchange.unavailable.ending, Exchange.disconnected.ending] {
          var failed = second
          failed.results = []
          failed.chunks = []
          failed.ending = ending
          _ = trial.travel([first], stage, instance)
          judge(trial.travel([failed], stage, instance)[0], 0, "after a call, when its own failed")
        }
        // A complete call runs between any two hooks of another one.
        for exchange in [second, visitor, sparing] {
          var settings = ExchangeRunner.Settings()
          settings.aroundHooks = { isBefore, _ in
            if !isBefore { judge(trial.travel([exchange], stage, instance, inner)[0], 0, "during a call") }
          }
          judge(trial.travel([first], stage, instance, settings)[0], 1, "around a call")
        }
        overlap(trial, stage, callers.map { $0.exchange() }, place)
      }
      for stage in trial.stages where stage.mutates.contains(.headers) { try findForgedUsers(trial, stage) }
    })

  /// Cancels a call inside of another one if it suspends. If it waits for the outer call, it would never end.
  private static let inner = ExchangeRunner.Settings(schedule: Schedule(beforeReturn: [], afterReturn: [.cancel]))

  /// Compares the bodies and results of calls that overlap with those of the same calls one after the other.
  private static func overlap(_ trial: InterceptorTrial, _ stage: StageHooks, _ exchanges: [Exchange], _ place: String) {
    guard let instance = try? trial.instance() else { return }
    defer { instance.destroy() }
    func elements(_ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()) -> [Staged.Element] {
      trial.travel([exchanges[0]], stage, instance, settings)[0].elements
    }
    let alone = [elements(), elements()]
    guard alone[0] == alone[1] else { return }
    var settings = ExchangeRunner.Settings()
    settings.aroundHooks = { isBefore, _ in if !isBefore { _ = trial.travel([exchanges[1]], stage, instance, inner) } }
    trial.notes.expect(elements(settings) == alone[0], "a call answers differently while another caller's call runs", at: place)
    keepsHeaders(trial, stage, exchanges, place)
  }

  /// Checks that a query does not get headers of a mutation that runs between its hooks.
  private static func keepsHeaders(_ trial: InterceptorTrial, _ stage: StageHooks, _ exchanges: [Exchange], _ place: String) {
    guard stage.mutates.contains(.headers), let instance = try? trial.instance() else { return }
    defer { instance.destroy() }
    var mutation = exchanges[1]
    mutation.operation.type = Exchange.mutation.operation.type
    mutation.operation.name = Exchange.mutation.operation.name
    mutation.operation.document = Exchange.mutation.operation.document
    func headers(_ exchange: Exchange, _ settings: ExchangeRunner.Settings = ExchangeRunner.Settings()) -> [String: String] {
      let passage = trial.travel([exchange], stage, instance, settings)[0]
      let fields = stage.kind == .http ? passage.request.headers : passage.operation.headers
      return Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }
    let queries = [headers(exchanges[0]), headers(exchanges[0])]
    let mutations = [headers(mutation), headers(mutation)]
    var settings = ExchangeRunner.Settings()
    settings.aroundHooks = { [mutation] isBefore, _ in if !isBefore { _ = trial.travel([mutation], stage, instance, inner) } }
    let found = headers(exchanges[0], settings)
    // A header with a time, or a stage that remembers mutations, may change a value for another reason.
    let again = headers(exchanges[0])
    for (name, value) in found.sorted(by: { $0.key < $1.key }) {
      let (own, other) = (queries.map { $0[name] }, mutations.map { $0[name] })
      guard own[0] == own[1], again[name] == own[0], other[0] == other[1], own[0] != other[0] else { continue }
      trial.notes.expect(
        value != other[0], "a query that waits gets the header \(name) of a mutation that comes in between: \(value.prefix(40))",
        at: place)
    }
  }
}

/// A caller with messages whose texts occur in no other call.
private struct Caller {
  let secrets: SecretSearch
  private let headers: [HeaderSample]
  private let values: [String]

  /// - Parameter isBasic: Whether its Authorization has a name and a password in Base64.
  init(_ words: Vocabulary, isBasic: Bool, _ generator: inout SeededGenerator) {
    var secrets = SecretSearch()
    func text(_ name: String) -> String {
      let value = SecretText.make(&generator)
      secrets.add("\(name) of the first", value)
      return value
    }
    let own = ["Authorization", "Cookie"]
    let credentials = "\(text("the name of the user")):\(text("the password"))"
    headers =
      own.map { name in
        let isEncoded = isBasic && name == "Authorization"
        let value = isEncoded ? "Basic \(Data(credentials.utf8).base64EncodedString())" : text("the header \(name)")
        return HeaderSample(name: name, value: value, isSensitive: true)
      }
      + words.names.filter { name in !own.contains { $0.lowercased() == name.lowercased() } && name.lowercased() != "content-type"
      }
      .map { HeaderSample(name: $0, value: text("the header \($0)")) }
    values = (0..<12).map { _ in text("the content") }
    self.secrets = secrets
  }

  /// - Parameter results: How many results a subscription has; a query if nil.
  func exchange(hasHeaders: Bool = true, hasOnlyCredentials: Bool = false, results: Int? = nil) -> Exchange {
    Exchange("a call of one of two callers") {
      if hasHeaders {
        let sent = hasOnlyCredentials ? Array(headers.prefix(2)) : headers
        $0.operation.headers += sent
        $0.request.headers += sent
      }
      $0.head.headers += headers.map { HeaderSample(name: $0.name, value: values[3], isSensitive: $0.isSensitive) }
      let members = headers.map { "\"\($0.name)\":\"\(values[4])\"" }.joined(separator: ",")
      $0.results = [ResultSample(data: "{\"mine\":\"\(values[5])\",\(members)}")]
      if let results {
        $0.operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
        $0.results = (0..<results).map { number in
          ResultSample(data: "{\"mine\":\"\(values[5])\",\"number\":\(number)}", flags: UInt32(CRB_RESULT_HAS_NEXT))
        }
      }
      $0.request.body = Array("{\"query\":\"{ mine(id: 1) }\"}".utf8)
      $0.chunks = Array("{\"data\":{\"mine\":\"\(values[6])\",\"see\":\"http://\(values[7])\"}}".utf8).pieces(of: 7)
    }
  }
}

/// Random texts.
enum SecretText {
  static func make(_ generator: inout SeededGenerator) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<40).compactMap { _ in letters.randomElement(using: &generator) })
  }
}
