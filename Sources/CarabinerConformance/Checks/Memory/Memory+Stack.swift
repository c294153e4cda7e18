internal import CarabinerBridge

extension Check {
  static let smallStack = Check(
    "ME14", level: 5, "needs little stack",
    page: Page(
      rule: """
        Each hook works on a thread with a stack of 256 KiB, also with results and bodies of 1 MiB.
        """,
      reason: """
        The size of the stack belongs to the host: `ulimit -s`, a container or a C library decides it. Large frames and copies of
        messages on the stack end the process with SIGSEGV.
        """,
      example: "char copy[result->json.len];                         /* or char table[1 << 20]; */",
      remedy: "Use malloc() for anything that is larger than a few KiB or whose size comes from a message."),
    timeLimit: .seconds(120),
    .interceptor { trial in
      trial.testHost.state.withLock { $0.isGuarded = false }
      var settings = ExchangeRunner.Settings(changesThreads: true)
      settings.stackBytes = 256 << 10
      let text = JSONValueText.string(trial.words.names.joined(separator: " "), atLeast: 1 << 20)
      let long = Exchange("messages of a mebibyte") {
        $0.results = [
          ResultSample(data: "{\"text\":\(text),\(trial.words.names.map { "\"\($0)\":\"x\"" }.joined(separator: ","))}")
        ]
        $0.request.body = Array("{\"data\":{\"text\":\(text)}}".utf8)
        $0.chunks = [Array("{\"data\":{\"text\":\(text)}}".utf8)]
        $0.operation.variables = "{\"text\":\(text)}"
      }
      FlightRecord.note("hooks on a stack of 256 KiB", inHook: false)
      try trial.exercise(Exchange.usual + [long], settings)
    })
}

/// Long JSON strings.
enum JSONValueText {
  static func string(_ text: String, atLeast count: Int) -> String {
    "\"" + String(repeating: "\(text) ", count: count / max(text.utf8.count, 1) + 1) + "\""
  }
}
