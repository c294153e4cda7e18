internal import CCarabiner

/// Another stage of the chain, which may do everything that carabiner.h permits. It changes the input of the stage under test.
enum ChainMutation: Sendable, Hashable {
  /// Adds a header, or removes all of them.
  case header(String?)
  /// Replaces or removes variables and extensions.
  case members(String?)
  /// Removes the name of the operation.
  case namesNothing
  /// Keeps every n-th result.
  case drops(every: Int)
  /// Emits each result and each chunk several times.
  case multiplies(Int)
  /// Emits other data in place of each result.
  case replaces(by: String)
  /// Marks results as incomplete, with more to come.
  case marks(UInt32, path: String?, label: String?)
  /// Emits results that carry errors.
  case addsErrors(String)
  /// Fails after this many results.
  case fails(after: Int, ErrorSample)
  /// Ends the call after this many results.
  case finishes(after: Int)
  /// The caller cancels after this many results.
  case cancels(after: Int)
  /// Replaces the head of the response.
  case head(status: UInt32, version: UInt32, keepsHeaders: Bool)
  /// Removes bytes from the end of each chunk.
  case cuts(Int)

  /// Valid but unusual JSON.
  private static let texts = [
    "null", "[]", "{}", "0", "-0.0", "\"\"", "true", #"{"":{"":null}}"#, #"{"a":1,"a":2}"#, "\"\\u0000\"", "1e400",
    #"{"__typename":"é\ud83d\ude00","id":null}"#, String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
    "[" + String(repeating: "{},", count: 500) + "{}]", "\"" + String(repeating: "x", count: 70_000) + "\"",
  ]
  private static let statuses: [UInt32] = [100, 103, 200, 204, 206, 226, 301, 304, 400, 401, 403, 408, 418, 429, 500, 503, 599]
  private static let headerValues = [
    "", " ", "0", "gzip", "application/json; charset=\"", "multipart/mixed; boundary=", "bytes */*",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "18446744073709551616", "é", String(repeating: "v", count: 9000),
  ]
  private static let headerNames = [
    "Content-Type", "content-length", "Authorization", "Retry-After", "Cache-Control", "Set-Cookie",
    "X-\(String(repeating: "n", count: 200))",
    "Date", "ETag",
  ]
  private static let errors = [
    ErrorSample(code: .min, flags: .max, httpStatus: -1),
    ErrorSample(message: String(repeating: "m", count: 5000), detail: "[1,"),
    ErrorSample(retryAfter: .max, domain: "org.neighbour"),
    ErrorSample(code: 7, flags: UInt32(CRB_ERROR_TRANSPORT), httpStatus: 0, domain: "carabiner.transport"),
  ]

  /// A random mutation.
  static func random(_ generator: inout SeededGenerator) -> ChainMutation {
    func text() -> String { texts.randomElement(using: &generator) ?? "null" }
    let count = Int.random(in: 0...4, using: &generator)
    switch Int.random(in: 0..<13, using: &generator) {
    case 0:
      let name = headerNames.randomElement(using: &generator) ?? "X"
      let value = headerValues.randomElement(using: &generator) ?? ""
      return .header(Int.random(in: 0..<5, using: &generator) == 0 ? nil : "\(name): \(value)")
    case 1: return .members(Int.random(in: 0..<4, using: &generator) == 0 ? nil : "{\"m\":\(text())}")
    case 2: return .namesNothing
    case 3: return .drops(every: count + 1)
    case 4: return .multiplies([2, 3, 17, 200].randomElement(using: &generator) ?? 2)
    case 5: return .replaces(by: text())
    case 6:
      return .marks(
        UInt32.random(in: 0...7, using: &generator),
        path: ["[]", #"["books",0]"#, #"["a",-1,"b"]"#, nil].randomElement(using: &generator) ?? nil,
        label: ["", "later", String(repeating: "l", count: 3000), nil].randomElement(using: &generator) ?? nil)
    case 7: return .addsErrors("[{\"message\":\(text())}]")
    case 8: return .fails(after: count, errors.randomElement(using: &generator) ?? ErrorSample())
    case 9: return .finishes(after: count)
    case 10: return .cancels(after: count)
    case 11:
      return .head(
        status: statuses.randomElement(using: &generator) ?? 200,
        version: [10, 11, 20, 30].randomElement(using: &generator) ?? 11,
        keepsHeaders: Bool.random(using: &generator))
    default: return .cuts(count + 1)
    }
  }

  /// Changes an exchange as this stage does.
  func change(_ exchange: inout Exchange) {
    switch self {
    case .header(nil):
      exchange.operation.headers = []
      exchange.request.headers = []
      exchange.head.headers = []
    case .header(let field?):
      let parts = field.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
      let header = HeaderSample(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
      exchange.operation.headers.append(header)
      exchange.request.headers.append(header)
      exchange.head.headers.insert(header, at: 0)
    case .members(let text):
      exchange.operation.variables = text
      exchange.operation.extensions = text
    case .namesNothing: exchange.operation.name = nil
    case .drops(let interval):
      exchange.results = exchange.results.enumerated().filter { $0.offset % interval == 0 }.map(\.element)
    case .multiplies(let count):
      // Without a limit, two such mutations in a row would create millions of elements.
      let times = min(count, max(1, 2000 / max(exchange.results.count, exchange.chunks.count, 1)))
      exchange.results = exchange.results.flatMap { Array(repeating: $0, count: times) }
      exchange.chunks = exchange.chunks.flatMap { Array(repeating: $0, count: times) }
    case .replaces(let text):
      for index in exchange.results.indices { exchange.results[index].data = text }
      exchange.chunks = exchange.chunks.map { _ in Array(text.utf8) }
    case .marks(let flags, let path, let label):
      for index in exchange.results.indices {
        exchange.results[index].flags = flags
        exchange.results[index].path = path
        exchange.results[index].label = label
      }
    case .addsErrors(let text): for index in exchange.results.indices { exchange.results[index].errors = text }
    case .fails(let count, let error): exchange.stop(after: count, .error(error))
    case .finishes(let count): exchange.stop(after: count, .end)
    case .cancels(let count): exchange.stop(after: count, .cancel)
    case .head(let status, let version, let keepsHeaders):
      exchange.head.status = status
      exchange.head.version = version
      if !keepsHeaders { exchange.head.headers = [] }
    case .cuts(let count): exchange.chunks = exchange.chunks.map { Array($0.dropLast(count)) }
    }
  }
}

extension Exchange {
  fileprivate mutating func stop(after count: Int, _ ending: Ending) {
    results = Array(results.prefix(count))
    chunks = Array(chunks.prefix(count))
    self.ending = ending
  }
}

extension ChainMutation: CustomStringConvertible {
  var description: String {
    func short(_ text: String) -> String { text.count <= 60 ? text : "\(text.prefix(40))… (\(text.utf8.count) bytes)" }
    return switch self {
    case .header(nil): "a neighbour removes all headers"
    case .header(let field?): "a neighbour adds the header \(short(field).debugDescription)"
    case .members(nil): "a neighbour removes variables and extensions"
    case .members(let text?): "a neighbour sets variables and extensions to \(short(text))"
    case .namesNothing: "a neighbour removes the operation's name"
    case .drops(let interval): "a neighbour keeps one result of \(interval)"
    case .multiplies(let count): "a neighbour emits each result and chunk \(count) times"
    case .replaces(let text): "a neighbour replaces results and chunks by \(short(text))"
    case .marks(let flags, let path, let label):
      "a neighbour marks results with flags \(flags), path \(path ?? "absent"), label \(label.map(short) ?? "absent")"
    case .addsErrors(let text): "a neighbour adds errors: \(short(text))"
    case .fails(let count, let error): "a neighbour fails after \(count) results with code \(error.code), flags \(error.flags)"
    case .finishes(let count): "a neighbour ends the call after \(count) results"
    case .cancels(let count): "the caller gives up after \(count) results"
    case .head(let status, let version, let keepsHeaders):
      "a neighbour sets the head to status \(status), HTTP \(version / 10).\(version % 10)\(keepsHeaders ? "" : ", without headers")"
    case .cuts(let count): "a neighbour cuts \(count) bytes off each chunk"
    }
  }
}
