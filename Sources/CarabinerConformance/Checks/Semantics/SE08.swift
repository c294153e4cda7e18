internal import CarabinerHost
internal import Synchronization

extension Check {
  static let se08 = Check(
    "SE08", level: 3, "keeps secrets to itself",
    page: Page(
      rule: #"""
        The values of Authorization, Cookie and Set-Cookie, and of every header with CRB_HEADER_SENSITIVE, appear in no log line, no baggage value and no error.
        """#,
      reason: "Logs are read by many and kept for years. A token in them is a token given away.",
      example: #"""
        snprintf(line, sizeof line, "sending %.*s: %.*s", …header name…, …header value…);  host->log(self, CRB_LOG_DEBUG, call, text(line));
        """#,
      remedy: "Log names, never values; look at CRB_HEADER_SENSITIVE before you copy a value anywhere."),
    .interceptor { trial in
      let canary = "canary-4e1f-\(trial.options.seed)-secret"
      let fields = ["Authorization", "Cookie", "Set-Cookie", "X-Marked"].map {
        HeaderSample(name: $0, value: "Bearer \(canary)", isSensitive: true)
      }
      let exchanges = Exchange.usual.map { usual in
        var exchange = usual
        exchange.operation.headers += fields
        exchange.request.headers += fields
        exchange.head.headers += fields
        return exchange
      }
      let instance = try trial.instance()
      defer { instance.destroy() }
      for stage in trial.stages {
        for passage in trial.travel(exchanges, stage, instance) {
          for step in passage.steps {
            let failure = step.staged.failure.map { "\($0.message) \($0.detail)" } ?? ""
            trial.notes.expect(
              !failure.contains(canary), "a secret header is part of an error",
              at: "\(trial.interceptor.id) \(stage.kind.rawValue).\(step.hook.name)")
          }
        }
      }
      let (logged, baggage) = trial.laboratory.state.withLock { ($0.logged, $0.carried) }
      trial.notes.expect(
        !logged.contains { $0.contains(canary) }, "a secret header is part of a log line", at: trial.interceptor.id)
      trial.notes.expect(
        !baggage.contains { String(decoding: $0, as: UTF8.self).contains(canary) }, "a secret header is part of the baggage",
        at: trial.interceptor.id)
    })
}
