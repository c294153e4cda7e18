internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import Synchronization

/// Bodies for parsers: a valid one of each content type that a parser may accept.
struct ParserTrial {
  /// A body and its content type.
  private struct Sample {
    let type: String
    let header: String
    let body: [UInt8]
  }

  /// The results that a parser made of a body.
  struct Reading: Equatable {
    let elements: [Staged.Element]
    let verdict: Int32
  }

  private static let json =
    #"{"data":{"books":[{"id":"1","title":"So\u006caris – \"é\"","pages":204.5e0}]},"extensions":{"a":[]}}"#
  private static func manyLines(_ count: Int) -> [UInt8] {
    Array((0..<count).map { #"{"data":{"a":\#($0),"t":"é b"}}"# + "\n" }.joined().utf8)
  }
  private static func parts(_ count: Int, boundary: String) -> [UInt8] {
    let parts = (0..<count).map {
      "\r\n--\(boundary)\r\nContent-Type: application/json\r\n\r\n" + #"{"data":{"a":\#($0)},"hasNext":\#($0 + 1 < count)}"#
    }
    return Array((parts.joined() + "\r\n--\(boundary)--\r\n").utf8)
  }
  private static let samples: [Sample] =
    [
      Sample(type: "application/json", header: "application/json; charset=utf-8", body: Array(json.utf8)),
      Sample(type: "application/json", header: "application/graphql-response+json", body: Array(json.utf8)),
      Sample(
        type: "multipart/mixed", header: "multipart/mixed; boundary=\"-\"; deferSpec=20220824",
        body: Array(
          ("\r\n---\r\nContent-Type: application/json\r\n\r\n" + #"{"data":{"a":1},"hasNext":true}"#
            + "\r\n---\r\nContent-Type: application/json\r\n\r\n"
            + #"{"incremental":[{"path":[],"data":{"b":2}}],"hasNext":false}"#
            + "\r\n-----\r\n").utf8)),
      Sample(
        type: "multipart/mixed",
        header: "multipart/mixed; boundary=\"a-boundary-that-has-the-most-bytes-that-RFC-2046-permits-namely-seventy\"",
        body: parts(4, boundary: "a-boundary-that-has-the-most-bytes-that-RFC-2046-permits-namely-seventy")),
      Sample(type: "lines", header: "application/jsonl", body: manyLines(4)),
      Sample(type: "lines", header: "application/x-ndjson", body: manyLines(4)),
      Sample(
        type: "events", header: "text/event-stream",
        body: Array(
          (": hello\r\n\r\nevent: next\r\ndata: {\"data\":\r\ndata: {\"a\":1}}\r\n\r\nevent: next\ndata: {\"data\":{\"a\":2}}\n\n"
            + "event:next\rdata:{\"data\":{\"a\":3}}\r\revent: complete\ndata:\n\n").utf8)),
      // {"data": {"a": 1, "t": "é"}}
      Sample(
        type: "application/cbor", header: "application/cbor",
        body: [0xA1, 0x64, 0x64, 0x61, 0x74, 0x61, 0xA2, 0x61, 0x61, 0x01, 0x61, 0x74, 0x62, 0xC3, 0xA9]),
    ]
    + ["application/msgpack", "application/x-msgpack", "application/vnd.msgpack"].map { type in
      Sample(
        type: "application/msgpack", header: type,
        body: [0x81, 0xA4, 0x64, 0x61, 0x74, 0x61, 0x82, 0xA1, 0x61, 0x01, 0xA1, 0x74, 0xA2, 0xC3, 0xA9])
    }

  /// Length prefixes of frames in both byte orders. Added to the length of the frame's head, they overflow 32 or 64 bits.
  private static let lengths: [[UInt8]] = [4, 8].flatMap { size in
    [0xFF, 0xFC, 0xFA, 0xF0].flatMap { last in
      let length = Array(repeating: UInt8(0xFF), count: size - 1) + [UInt8(last)]
      return [length, length.reversed()]
    }
  }

  /// The beginnings of values in CBOR and MessagePack that announce more bytes, elements or members than there are.
  private static let announcements: [[UInt8]] = {
    let heads: [(UInt8, Int)] = [
      (0x7A, 4), (0x7B, 8), (0x9A, 4), (0x9B, 8), (0xBA, 4), (0xBB, 8), (0x5A, 4), (0x5B, 8), (0xDB, 4), (0xC6, 4), (0xDD, 4),
      (0xDF, 4),
      (0xDC, 2), (0xDE, 2),
    ]
    return heads.flatMap { head, size in
      [[0xFF, 0xFF], [0x7F, 0xFF], [0x0F, 0xFF]].map { first in
        [head] + Array((first + Array(repeating: 0xFF, count: 6)).prefix(size))
      }
    }
  }()

  /// Bodies that announce more bytes than they have. In binary formats, the announcement is alone or the value of `data`. In other
  /// formats, it is the length of a frame.
  var announcing: [Exchange] {
    let prefixes: [String: [UInt8]] = [
      "application/cbor": [0xA1, 0x64, 0x64, 0x61, 0x74, 0x61], "application/msgpack": [0x81, 0xA4, 0x64, 0x61, 0x74, 0x61],
    ]
    return samples.flatMap { sample in
      (prefixes[sample.type].map { [[], $0] } ?? [[], [0]]).flatMap { prefix in
        (prefixes[sample.type] == nil ? Self.lengths : Self.announcements).map { announcement in
          Exchange("a body of \(sample.header) that announces more than it has") {
            $0.head.headers = [HeaderSample(name: "Content-Type", value: sample.header)]
            $0.chunks = [prefix + announcement + [0x61, 0x61]]
            $0.isMalformed = true
          }
        }
      }
    }
  }

  static let foreignWord = "word\u{1F600}\u{E9}"
  /// Bodies in formats that parsers of other content types may accept.
  private static let plainBodies = [
    "a,b\n1,\"x, y\"\n\(foreignWord),2\n", json, "a=1\nb=\(foreignWord)\n", "a: 1\nb: \(foreignWord)\n\n",
    "<a b=\"1\">\(foreignWord)</a>", "1 2 3\n",
  ]

  private let trial: InterceptorTrial
  private let samples: [Sample]

  /// Adds the content types that the interceptor announces or looks for to the usual ones.
  init(_ trial: InterceptorTrial) {
    self.trial = trial
    let announced =
      (trial.interceptor.accept ?? "").split(separator: ",").map {
        $0.prefix { $0 != ";" }.trimmingPrefix { $0 == " " }.lowercased()
      } + trial.words.mediaTypes
    let usual = Self.samples
    let own = announced.filter { type in
      !type.isEmpty && !usual.contains { $0.header.hasPrefix(type) }
    }
    samples = usual + own.flatMap { type in Self.plainBodies.map { Sample(type: "own", header: type, body: Array($0.utf8)) } }
  }

  /// The content types whose sample the parser reads, as a header has them.
  var acceptedTypes: [String] {
    var types: [String] = []
    try? everyBody { _, exchange, _ in
      if let type = exchange([]).head.headers.first?.value, !types.contains(type) { types.append(type) }
    }
    return types
  }

  /// The accepted bodies in small chunks.
  var inPieces: [Exchange] {
    var exchanges: [Exchange] = []
    let wasGuarded = trial.testHost.state.withLock { $0.isGuarded }
    try? everyBody { body, exchange, _ in exchanges.append(exchange(body.pieces(of: 7))) }
    trial.testHost.state.withLock { $0.isGuarded = wasGuarded }
    return exchanges
  }

  /// Parses bodies with long texts of multi-byte characters, and calls `judge` with whether each has results. The test host accepts
  /// only valid JSON, so a result with a cut character is lost.
  func everyLongText(_ judge: (_ hasResults: Bool) -> Void) throws {
    try everyBody(of: ["own"]) { body, exchange, travel in
      let short = String(decoding: body, as: UTF8.self)
      guard short.contains(Self.foreignWord) else { return }
      for text in Exchange.foreign {
        judge(!travel(exchange([Array(short.replacing(Self.foreignWord, with: text).utf8)])).elements.isEmpty)
      }
    }
  }

  /// Bodies of each content type that end early, or have bytes that are not UTF-8.
  var malformed: [Exchange] {
    samples.flatMap { sample in
      var spoilt = sample.body
      for place in [spoilt.count / 2, spoilt.count - 4] where place >= 0 { spoilt[place] = 0xFF }
      let half = Array(sample.body[..<(sample.body.count / 2)])
      return [("a malformed body", spoilt), ("half of a body", half)].map { name, body in
        Exchange("\(name) of \(sample.header)") {
          $0.head.headers = [HeaderSample(name: "Content-Type", value: sample.header)]
          $0.chunks = [body]
          $0.isMalformed = true
        }
      }
    }
  }

  /// Calls `body` for each sample that the parser accepts, with its bytes, a function that makes an exchange of chunks, and one that parses it.
  ///
  /// - Throws: ``TrialNotes/Skip`` if the interceptor has no parser, or it accepts none of them.
  func everyBody(
    of types: Set<String>? = nil,
    _ body: ([UInt8], (_ chunks: [[UInt8]]) -> Exchange, (Exchange) -> Reading) throws -> Void
  ) throws {
    guard let stage = trial.stages.first(where: { $0.kind == .parsing }) else { throw TrialNotes.Skip("it has no parser stage") }
    trial.testHost.state.withLock { $0.isGuarded = false }
    let instance = try trial.instance()
    defer { instance.destroy() }
    func read(_ exchange: Exchange) -> Reading {
      let passage = trial.travel([exchange], stage, instance)[0]
      return Reading(elements: passage.elements, verdict: passage.verdict)
    }
    var taken = 0
    for sample in samples where types?.contains(sample.type) ?? true {
      var operation = OperationSample()
      func exchange(_ chunks: [[UInt8]]) -> Exchange {
        Exchange("a body of \(sample.header)") {
          $0.operation = operation
          $0.head.headers = [HeaderSample(name: "Content-Type", value: sample.header)]
          $0.chunks = chunks
          $0.isMalformed = sample.type == "own"
        }
      }
      // If a parser makes no result of the valid body, this sample is left out. Some parsers read only subscriptions.
      if read(exchange([sample.body])).elements.isEmpty {
        operation.type = UInt32(CRB_OPERATION_SUBSCRIPTION)
        guard !read(exchange([sample.body])).elements.isEmpty else { continue }
      }
      taken += 1
      try body(sample.body, exchange, read)
    }
    if taken == 0 { throw TrialNotes.Skip("it accepts none of the bodies of this check") }
  }
}
