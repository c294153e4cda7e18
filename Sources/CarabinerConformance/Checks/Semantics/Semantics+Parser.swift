internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let parserChunks = Check(
    "SE11", level: 3, "a parser gives the same results for any chunks",
    page: Page(
      rule: """
        The results of a body do not depend on its chunks. A body with a text of 200 KiB is read like a short one, and gives one result. A
        last line without a line feed counts, or the body is refused. Nor do the results depend on the form of a body: on white space,
        on line ends, comments and the space after a colon of events, and on fields and members that no parser knows.
        """,
      reason: "The network decides where a body is cut, and it differs each time.",
      example: #"""
        if (strstr(chunk, "\r\n--")) …        /* the delimiter may come in two chunks */
        """#,
      remedy: "Keep incomplete data in your state, and continue at the same place with the next chunk."),
    .interceptor { trial in
      try readsOtherForms(trial)
      try ParserTrial(trial).everyBody(of: [
        "application/json", "application/cbor", "application/msgpack", "lines", "events", "own",
      ]) {
        body, exchange, travel in
        let whole = travel(exchange([body]))
        keepsCharacters(trial, body, whole)
        readsAnyLength(trial, body, exchange, travel)
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
            "cut into \(cut.count) chunks of \(cut.prefix(3).map(\.count)) … bytes, the body gives other results",
            at: trial.interceptor.id)
        }
      }
      try? readsLastLine(trial)
    })
}

extension Check {
  /// Parses lines without a line feed at the end of the last one.
  private static func readsLastLine(_ trial: InterceptorTrial) throws {
    try ParserTrial(trial).everyBody(of: ["lines"]) { body, exchange, travel in
      let (whole, open) = (travel(exchange([body])), travel(exchange([Array(body.dropLast())])))
      trial.notes.expect(
        open.elements == whole.elements || open.verdict == Verdict.fail, "a last line without a line feed is lost",
        at: trial.interceptor.id)
    }
  }

  /// Checks that a word with characters beyond U+FFFF is complete in each result that contains its beginning.
  private static func keepsCharacters(_ trial: InterceptorTrial, _ body: [UInt8], _ reading: ParserTrial.Reading) {
    let word = ParserTrial.foreignWord
    guard String(decoding: body, as: UTF8.self).contains(word) else { return }
    for element in reading.elements {
      guard let result = StagedJSON.object(element.bytes) else { continue }
      let text = JSONValue.object(result).serializedText
      trial.notes.expect(
        !text.contains(word.prefix(4)) || text.contains(word), "it changes the text \(word) of a body", at: trial.interceptor.id)
    }
  }

  /// Reads a JSON body with a long text.
  private static func readsAnyLength(
    _ trial: InterceptorTrial, _ body: [UInt8], _ exchange: ([[UInt8]]) -> Exchange, _ travel: (Exchange) -> ParserTrial.Reading
  ) {
    guard body.first == UInt8(ascii: "{"), body.last == UInt8(ascii: "}") else { return }
    for count in [1000, 70_000, 200_000] {
      let long = Array("{\"data\":{\"text\":\"\(String(repeating: "x", count: count))\"}}".utf8)
      for chunks in [[long], long.pieces(of: 16_384)] {
        let results = travel(exchange(chunks)).elements
        trial.notes.expect(
          results.count == 1, "a body of \(long.count) bytes gives \(results.count) results, and a short one gives one",
          at: trial.interceptor.id)
      }
    }
  }

  /// Cuts multipart bodies before their last delimiter.
  private static func cutParts(_ trial: InterceptorTrial) throws {
    try ParserTrial(trial).everyBody(of: ["multipart/mixed"]) { body, exchange, travel in
      for end in [body.count - 3, body.count - 8, body.count / 2, body.count / 3] where end > 0 {
        trial.notes.expect(
          travel(exchange([Array(body[..<end])])).verdict == Verdict.fail,
          "a multipart body that ends after \(end) of \(body.count) bytes is accepted", at: trial.interceptor.id)
      }
    }
  }

  static let brokenBodies = Check(
    "SE12", level: 3, "a parser refuses malformed bodies",
    page: Page(
      rule: """
        A body is a parse error, and never a result, if it is truncated, followed by more bytes, not UTF-8, or has an object with
        the same name twice.
        """,
      reason: "If a parser accepts a truncated response as complete, data is lost without an error.",
      example: "if (depth == 0) { emit(…); return CRB_CONTINUE; }      /* and the rest of the body? */",
      remedy: """
        Read to the end of the body. Answer CRB_FAIL with CRB_ERROR_PARSE if bytes are missing, or if anything but white space is
        left.
        """),
    .interceptor { trial in
      try ParserTrial(trial).everyBody(of: ["application/json", "application/cbor", "application/msgpack"]) {
        body, exchange, travel in
        let step = max(1, body.count / trial.options.times(64, atLeast: 16))
        for end in stride(from: 0, to: body.count, by: step) {
          trial.notes.expect(
            travel(exchange([Array(body[..<end])])).elements.isEmpty,
            "a body that ends after \(end) of \(body.count) bytes gives a result",
            at: trial.interceptor.id)
        }
        trial.notes.expect(
          travel(exchange([body + Array("garbage".utf8)])).elements.isEmpty, "a body with more bytes after it gives a result",
          at: trial.interceptor.id)
        guard body.first == UInt8(ascii: "{") else { return }
        let malformed: [(String, [UInt8])] = [
          ("that is not UTF-8", Array(#"{"data":{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8)),
          ("with an encoded surrogate", Array(#"{"data":{"a":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}}"#.utf8)),
          ("with an overlong character", Array(#"{"data":{"a":""#.utf8) + [0xC0, 0xAF] + Array(#""}}"#.utf8)),
          ("with a name twice", Array(#"{"data":{"a":1,"b":2,"a":3}}"#.utf8)),
          ("with a name twice at its top", Array(#"{"data":{"a":1},"data":{"a":2}}"#.utf8)),
        ]
        for (name, bytes) in malformed {
          trial.notes.expect(
            travel(exchange([bytes])).elements.isEmpty, "a body \(name) gives a result", at: trial.interceptor.id)
        }
      }
      try? cutParts(trial)
    })
}

extension Check {
  static let splitDelimiters = Check(
    "SE13", level: 5, "a parser finds delimiters that are split between chunks",
    page: Page(
      rule: "A multipart body gives the same results wherever a chunk ends inside a delimiter.",
      reason: "Delimiters are long, and look like content until their last byte. Parsers often fail there.",
      example: "end = memmem(chunk, n, delimiter, m);",
      remedy: "Keep the last bytes of each chunk if they may begin a delimiter."),
    .interceptor { trial in
      try ParserTrial(trial).everyBody(of: ["multipart/mixed"]) { body, exchange, travel in
        let whole = travel(exchange([body]))
        trial.notes.expect(
          travel(exchange(body.map { [$0] })) == whole, "sent byte by byte, the body gives other results",
          at: trial.interceptor.id)
        for place in 0...body.count where travel(exchange([Array(body[..<place]), Array(body[place...])])) != whole {
          return trial.notes.fail(
            "cut after byte \(place) of \(body.count), the body gives other results", at: trial.interceptor.id)
        }
      }
    })
}
