internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

extension Check {
  static let singleMutations = Check(
    "ER11", level: 3, "sends no mutation twice",
    page: Page(
      rule: """
        A stage does not answer RETRY for a mutation that the server may have run: after a broken connection or a timeout without
        CRB_ERROR_RETRYABLE, and after the statuses 500, 502 and 504. 401, 408, 425, 429 and 503 say that it was not run. A stage that
        adds an Idempotency-Key adds the same one at each attempt, and one that adds a nonce adds another one.
        """,
      reason: "The order is placed twice, or the money is transferred twice.",
      example: "if (error->flags & CRB_ERROR_RETRYABLE) return CRB_RETRY;",
      remedy: "if (host->operation_type(call) == CRB_OPERATION_MUTATION) return CRB_CONTINUE;"),
    .interceptor { trial in
      let errors: [(String, ErrorSample)] =
        [500, 502, 504].map {
          ("the status \($0)", ErrorSample(code: $0, httpStatus: $0, message: "the server answered with status \($0)"))
        }
        + [
          ("a broken connection", transport(0)), ("a timeout", transport(UInt32(CRB_ERROR_TIMEOUT))),
        ]
      for stage in trial.stages {
        let instance = try trial.instance()
        defer { instance.destroy() }
        keepsKey(trial, stage, instance)
        for ((name, sample), operation) in errors.flatMap({ error in OperationSample.mutations.map { (error, $0) } }) {
          var exchange = Exchange.mutation
          exchange.operation = operation
          exchange.name = "a mutation that ends with \(name)"
          exchange.results = []
          exchange.chunks = []
          exchange.head.status = sample.httpStatus > 0 ? UInt32(sample.httpStatus) : 200
          exchange.ending = .error(sample)
          var answered = exchange
          answered.chunks = [Array("<p>bad gateway</p>".utf8)]
          answered.ending = .end
          for passage in trial.travel([exchange] + (sample.httpStatus > 0 ? [answered] : []), stage, instance)
          where passage.steps.contains(where: { $0.verdict == Verdict.retry }) {
            trial.notes.fail("it sends a mutation again after \(name)", at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
          }
        }
      }
    })

  /// Checks that attempts of one mutation have the same idempotency key, and different nonces.
  private static func keepsKey(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    var settings = ExchangeRunner.Settings()
    settings.forcedRetries = 3
    var exchange = Exchange.mutation
    exchange.name = "a mutation that other stages send again"
    exchange.results = []
    exchange.chunks = []
    exchange.ending = .error(ErrorSample())
    for passage in trial.travel([exchange], stage, instance, settings) {
      let keys = passage.attempts.map { $0.filter { $0.name.lowercased().hasSuffix("idempotency-key") }.map(\.value) }
      let nonces = passage.attempts.compactMap { $0.last { $0.name.lowercased().hasSuffix("nonce") }?.value }
      trial.notes.expect(
        Set(nonces).count == nonces.count || nonces.count < passage.attempts.count,
        "it sends the same nonce at each attempt, which servers refuse; a nonce is for one attempt",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
      trial.notes.expect(
        Set(keys).count <= 1, "it adds another Idempotency-Key at each attempt of a mutation",
        at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
    }
  }

  private static func transport(_ flags: UInt32) -> ErrorSample {
    ErrorSample(
      code: 2, flags: UInt32(CRB_ERROR_TRANSPORT) | flags, httpStatus: 0, domain: "carabiner.transport",
      message: "the connection was closed", origin: nil)
  }
}
