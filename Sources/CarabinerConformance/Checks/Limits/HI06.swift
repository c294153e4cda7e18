internal import CarabinerHost
internal import Synchronization

extension Check {
  static let hi06 = Check(
    "HI06", level: 4, "puts no stranger's bytes into the log as they are",
    page: Page(
      rule: """
        Texts that came from outside (operation names, header values, error messages) are logged without control characters, and never
        taken for a format. A line feed or an escape in a logged line is a warning; a format that was followed is a crash, as a rule.
        """,
      reason: """
        A line feed writes a line of its own into the log, which may then say whatever an attacker wants; an escape sequence changes the
        terminal of whoever reads it.
        """,
      example: "snprintf(line, sizeof line, name); host->log(self, CRB_LOG_INFO, call, text(line));",
      remedy:
        "snprintf(line, sizeof line, \"%.*s\", (int)name.len, name.ptr); and replace bytes below 0x20, and 0x7F, by a space."),
    .interceptor { trial in
      let hostile = "evil\u{1B}[31m\nname %n%s%s%s%s%n"
      try trial.exercise([
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
      ])
      for line in trial.laboratory.state.withLock({ $0.logged }) {
        if line.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
          trial.notes.warn(
            "it logs control characters as they came: \(line.debugDescription.prefix(120))", at: trial.interceptor.id)
        }
      }
    })
}
