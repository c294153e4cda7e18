internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerWire

/// A GraphQL or HTTP stage that may answer a request with the stored answer of an earlier one.
struct StoredAnswers {
  private static let methods = ["POST", "GET"]
  private static let marker = "zqkept"

  private let trial: InterceptorTrial
  private let stage: StageHooks

  init(_ trial: InterceptorTrial, _ stage: StageHooks) {
    self.trial = trial
    self.stage = stage
  }

  private var place: String { "\(trial.interceptor.id) \(stage.kind.rawValue)" }

  /// Sends one of two similar requests after the other was answered. Returns false if the stage keeps no answers.
  func confuse() throws -> Bool {
    var hasAnswered = false
    for method in Self.methods {
      for (difference, first, second) in CacheConfusion.all {
        let (write, read) = (exchange(first, method), exchange(second, method))
        guard try answers(write, after: write) else { continue }
        hasAnswered = true
        trial.notes.expect(
          try !answers(read, after: write), "it answers a request with the answer of another one that differs in \(difference)",
          at: place)
      }
    }
    return hasAnswered
  }

  /// Repeats requests whose first answer must not be kept. Returns false if the stage keeps no answers.
  func spoil() throws -> Bool {
    var hasAnswered = false
    for method in Self.methods {
      let good = exchange(OperationSample(), method)
      guard try answers(good, after: good) else { continue }
      hasAnswered = true
      for (name, change) in faults(stage.kind) {
        var bad = good
        bad.name = "an answer \(name)"
        change(&bad)
        trial.notes.expect(
          try !answers(good, after: bad), "it keeps an answer \(name), and gives it to the next request", at: place)
      }
    }
    return hasAnswered
  }

  /// Whether the stage answers a request with the stored answer of an earlier one.
  private func answers(_ request: Exchange, after earlier: Exchange) throws -> Bool {
    let instance = try trial.instance()
    defer { instance.destroy() }
    _ = trial.travel([earlier], stage, instance)
    var read = request
    read.results = []
    read.chunks = []
    let passage = trial.travel([read], stage, instance)[0]
    return passage.isAnswered && passage.elements.contains { String(decoding: $0.bytes, as: UTF8.self).contains(Self.marker) }
  }

  private func faults(_ kind: StageKind) -> [(String, (inout Exchange) -> Void)] {
    let broken = Exchange.disconnected.ending
    guard kind == .http else {
      return [
        ("of which the rest has not come", { $0.results[0].flags = UInt32(CRB_RESULT_HAS_NEXT) }),
        (
          "that broke off",
          {
            $0.results[0].flags = UInt32(CRB_RESULT_HAS_NEXT)
            $0.ending = broken
          }
        ),
      ]
    }
    return [
      (
        "that broke off",
        {
          $0.chunks = Array($0.chunks.prefix(1))
          $0.ending = broken
        }
      ),
      (
        "that was cancelled",
        {
          $0.chunks = Array($0.chunks.prefix(1))
          $0.ending = .cancel
        }
      ),
      ("with the status 500", { $0.head.status = 500 }),
      ("that says no-store", { $0.head.headers = [$0.head.headers[0], HeaderSample(name: "Cache-Control", value: "no-store")] }),
    ]
  }

  /// An operation, its HTTP request and an answer that a cache may keep.
  private func exchange(_ operation: OperationSample, _ method: String) -> Exchange {
    Exchange("a request whose answer may be kept") {
      $0.operation = operation
      $0.results = [ResultSample(data: "{\"books\":[{\"id\":\"\(Self.marker)\"}]}")]
      let members =
        [("query", operation.document.json), ("operationName", operation.name?.json), ("variables", operation.variables)]
        + [("extensions", operation.extensions)]
      let body = "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
      $0.request.method = method
      $0.request.headers =
        [HeaderSample(name: "Content-Type", value: "application/json")]
        + operation.headers.filter { $0.name == "Authorization" }
      $0.request.body = method == "POST" ? Array(body.utf8) : nil
      if method == "GET" { $0.request.url = "https://books.example/graphql?request=\(Self.encoded(body))" }
      $0.head.headers = [
        HeaderSample(name: "Content-Type", value: "application/json"),
        HeaderSample(name: "Cache-Control", value: "public, max-age=60"),
      ]
      $0.chunks = ["{\"data\":{\"books\":[{\"id\":\"\(Self.marker)\"", "}]}}"].map { Array($0.utf8) }
    }
  }

  /// The text as a part of a URL.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.map { byte in
      let isPlain =
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
    .joined()
  }
}
