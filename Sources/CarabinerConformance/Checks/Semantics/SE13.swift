internal import CarabinerHost

extension Check {
  static let se13 = Check(
    "SE13", level: 5, "a parser finds delimiters wherever they are cut",
    page: Page(
      rule: "A body in parts gives the same results whichever two chunks each delimiter falls into.",
      reason: #"""
        Delimiters are where parsers of parts go wrong: they are long, and look like content until their last byte.
        """#,
      example: "end = memmem(chunk, n, delimiter, m);",
      remedy: "Keep the last bytes of each chunk that may begin a delimiter."),
    .interceptor { trial in
      try ParserTrial(trial).everyBody(of: ["multipart/mixed"]) { body, exchange, travel in
        let whole = travel(exchange([body]))
        trial.notes.expect(
          travel(exchange(body.map { [$0] })) == whole, "byte by byte the body gives other results", at: trial.interceptor.id)
        for place in 0...body.count where travel(exchange([Array(body[..<place]), Array(body[place...])])) != whole {
          return trial.notes.fail(
            "cut after byte \(place) of \(body.count) the body gives other results", at: trial.interceptor.id)
        }
      }
    })
}
