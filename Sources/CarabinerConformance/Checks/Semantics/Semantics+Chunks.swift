internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

extension Check {
  static let anyChunks = Check(
    "SE16", level: 3, "an HTTP stage passes on the same body for any chunks",
    page: Page(
      rule: """
        The body that leaves an HTTP stage does not depend on where the network cuts the body that comes in. The check sends bodies
        with texts that occur in the plugin. A stage passes each whole event or part of a stream on before the next one arrives.
        """,
      reason: """
        A word, an escape or a character may begin in one chunk and end in the next. A stage that looks at each chunk alone misses
        it, or damages it.
        """,
      example: #"""
        for (p = chunk; (p = memmem(p, …, "http://", 7)); …)                /* "http:" ends one chunk, "//" begins the next */
        """#,
      remedy: """
        Keep the end of each chunk that may begin a match in your state, put it in front of the next chunk, and stage what is left
        in on_end. Free it in release().
        """),
    .interceptor { trial in
      guard let stage = trial.stages.first(where: { $0.kind == .http && $0.seesChunks }) else {
        throw TrialNotes.Skip("it has no HTTP stage that sees bodies")
      }
      guard !trial.options.capabilities.contains("varies") else { throw TrialNotes.Skip("it declares that its answers vary") }
      trial.testHost.state.withLock { $0.isGuarded = false }
      let instance = try trial.instance()
      defer { instance.destroy() }
      passesStreams(trial, stage, instance)
      var generator = SeededGenerator(trial.options.seed)
      for (type, body) in bodies(trial.words) {
        func output(_ chunks: [[UInt8]]) -> [UInt8]? {
          let exchange = Exchange("a body of \(type) in \(chunks.count) chunks") {
            $0.head.headers = [HeaderSample(name: "Content-Type", value: type)]
            $0.chunks = chunks
          }
          return trial.travel([exchange], stage, instance)[0].body(of: exchange)
        }
        let whole = output([body])
        guard output([body]) == whole else { throw TrialNotes.Skip("its answers differ from run to run") }
        let cuts = cuts(of: body, trial.options.times(100, atLeast: 20), &generator)
        for cut in cuts where output(cut) != whole {
          return trial.notes.fail(
            "cut into \(cut.count) chunks of \(cut.prefix(3).map(\.count)) … bytes, a body of \(type) leaves the stage changed",
            at: "\(trial.interceptor.id) \(stage.kind.rawValue)")
        }
      }
    })

  /// Sends streams of many events, each in its own chunk.
  private static func passesStreams(_ trial: InterceptorTrial, _ stage: StageHooks, _ instance: TestHostInstance) {
    for (type, chunks) in streams {
      let exchange = Exchange("a stream of \(type)") {
        $0.operation = OperationSample.subscription
        $0.head.headers = [HeaderSample(name: "Content-Type", value: type)]
        $0.chunks = chunks
      }
      let steps = trial.travel([exchange], stage, instance)[0].steps
      let passed = steps.filter { $0.hook == .onChunk }
      let isHeld =
        passed.count == exchange.chunks.count && passed.allSatisfy { $0.verdict == Verdict.drop || $0.staged.isEmptied }
      let isPassed = steps.last { $0.hook == .onEnd }.map { !$0.staged.elements.isEmpty } ?? false
      let place = "\(trial.interceptor.id) http.on_chunk"
      trial.notes.expect(
        !isHeld || !isPassed, "it passes nothing of a stream of \(type) on before its end", at: place)
      trial.notes.expect(
        !holdsEvents(passed, chunks, steps), "it holds a whole event of \(type) back until later ones arrive", at: place)
    }
  }

  /// Whether the stage forwards the beginning of an event only after a later chunk than the one with the whole event.
  private static func holdsEvents(
    _ passed: [ExchangeResult.Step], _ chunks: [[UInt8]], _ steps: [ExchangeResult.Step]
  ) -> Bool {
    let outputs = zip(passed, chunks).map { step, chunk -> String in
      if step.verdict == Verdict.drop { return "" }
      let bytes = step.staged.elements.isEmpty ? chunk : step.staged.elements.flatMap(\.bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    let rest = steps.filter { $0.hook == .onEnd }.flatMap { $0.staged.elements.flatMap(\.bytes) }
    let all = outputs + [String(decoding: rest, as: UTF8.self)]
    // An event counts as held only if no earlier output has it, because a stage may repeat earlier events in each output.
    return chunks.indices.contains { number in
      all.dropFirst(number + 1).contains { $0.contains(marker(number)) }
        && !all.prefix(number + 1).contains { $0.contains(marker(number)) }
    }
  }

  /// A text that only the beginning of this event contains.
  private static func marker(_ number: Int) -> String { "zqevent\(number)x" }

  /// The media types of streams, with the chunks of a stream. Each chunk ends at the end of an event.
  private static var streams: [(String, [[UInt8]])] {
    let texts = (0..<40).map { "{\"data\":{\"text\":\"\(marker($0)) \(String(repeating: "word ", count: 40))\"}" }
    let events = texts.map { Array("event: next\ndata: \($0)}\n\n".utf8) }
    // A part is complete only with the delimiter after it.
    let parts = texts.enumerated().map { number, text in
      let start = number == 0 ? "\r\n---\r\n" : ""
      return Array("\(start)Content-Type: application/json\r\n\r\n\(text),\"hasNext\":true}\r\n---\r\n".utf8)
    }
    return [("text/event-stream", events), ("multipart/mixed; boundary=\"-\"", parts)]
  }

  /// The size in bytes from which a body is cut into larger pieces.
  private static let longBytes = 20_000

  private static func cuts(of body: [UInt8], _ count: Int, _ generator: inout SeededGenerator) -> [[[UInt8]]] {
    let isLong = body.count >= longBytes
    var cuts = (isLong ? [997, 4096] : [1, 2, 3, 7]).map { body.pieces(of: $0) }
    cuts.append(body.pieces(of: isLong ? 512 : 5).flatMap { [$0, []] })
    if isLong {
      // Large chunks come after and between small ones, which a stage may have buffered.
      let large = body[100...].pieces(of: 10_000)
      cuts.append(body[..<100].pieces(of: 50) + large.flatMap { [Array($0.prefix(9_990)), Array($0.dropFirst(9_990))] })
    }
    for _ in 0..<count {
      let place = Int.random(in: 0...body.count, using: &generator)
      cuts.append([Array(body[..<place]), Array(body[place...])])
    }
    return cuts
  }

  private static func bodies(_ words: Vocabulary) -> [(String, [UInt8])] {
    let texts = (words.phrases + words.names.prefix(12) + EverydayText.all).map { JSONValue.string("a \($0) \($0)b") }
    let members = words.names.prefix(12).map { "\"\($0)\": \"value of it\"" }.joined(separator: ", ")
    let json = "{\"data\": {\(members), \"list\": \(JSONValue.array(texts).serializedText), \"t\": \"\\u00e9 é\u{1F600}\\\\n\"}}"
    let long =
      "{\"data\": {\"list\": \(JSONValue.array((0..<600).map { .string("\(texts[$0 % texts.count].string ?? "") \($0)") }).serializedText)}}"
    let lines = (words.phrases + EverydayText.all + ["<p>é</p>", "a\tb"]).joined(separator: "\n") + "\n"
    return Check.prefixes.map { ("application/json", Array(($0 + json).utf8)) } + [
      ("application/json", Array(json.utf8)), ("text/html; charset=utf-8", Array(lines.utf8)), ("text/plain", Array("{".utf8)),
      ("application/json; charset=utf-8", Array(long.utf8)),
    ]
  }
}

extension ExchangeResult {
  /// The body as it leaves an HTTP stage; nil if the stage ends the call with an error.
  func body(of exchange: Exchange) -> [UInt8]? {
    var body: [UInt8] = []
    var number = 0
    for step in steps {
      if step.verdict == Verdict.fail { return nil }
      let staged = step.staged.elements.flatMap(\.bytes)
      if step.hook == .onChunk {
        let original = exchange.chunks[number % max(exchange.chunks.count, 1)]
        number += 1
        if step.verdict == Verdict.drop { continue }
        body += step.staged.elements.isEmpty ? original : staged
      } else if step.hook == .onEnd {
        body += staged
      }
    }
    return body
  }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Pieces of this size; the last one may be shorter.
  func pieces(of size: Int) -> [[UInt8]] {
    stride(from: startIndex, to: endIndex, by: size).map { Array(self[$0..<Swift.min($0 + size, endIndex)]) }
  }
}
