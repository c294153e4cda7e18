internal import CarabinerHost

extension Check {
  static let se11 = Check(
    "SE11", level: 3, "a parser reads the same from any chunks",
    page: Page(
      rule: "The results of a body do not depend on where it was cut into chunks.",
      reason: "Where a body is cut is decided by the network, anew each time.",
      example: #"""
        if (strstr(chunk, "\r\n--")) …        /* the delimiter may come in two chunks */
        """#,
      remedy: "Keep what is not yet complete in your state, and go on where you stopped."),
    .interceptor { trial in
      try ParserTrial(trial).everyBody(of: ["application/json", "application/cbor"]) { body, exchange, travel in
        let whole = travel(exchange([body]))
        var generator = SeededGenerator(trial.options.seed)
        var cuts = [body.map { [$0] }, [[]] + body.map { [$0] } + [[]]]
        for _ in 0..<trial.options.times(200, atLeast: 20) {
          let (first, second) = (
            Int.random(in: 0...body.count, using: &generator), Int.random(in: 0...body.count, using: &generator)
          )
          let (low, high) = (min(first, second), max(first, second))
          cuts.append([Array(body[..<low]), Array(body[low..<high]), Array(body[high...])])
        }
        for cut in cuts where travel(exchange(cut)) != whole {
          return trial.notes.fail(
            "cut into \(cut.count) chunks of \(cut.prefix(3).map(\.count)) … bytes the body gives other results",
            at: trial.interceptor.id)
        }
      }
    })
}
