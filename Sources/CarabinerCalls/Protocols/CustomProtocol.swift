internal import Carabiner
internal import FoundationEssentials

/// The protocol of a custom interceptor, which has done everything: requests and responses pass as they are.
struct CustomProtocol: CallProtocol {
  let options: ProtocolOptions

  func contentType(of kind: CallKind) -> String { "application/\(options.codecName)" }

  func unaryRequest(
    to url: URL, headers: Headers, message: Data, timeout: TimeInterval?, getLimit: Int?
  ) throws(ConnectError) -> URLRequest {
    var request = try streamRequest(to: url, headers: headers, timeout: timeout)
    if getLimit == nil { request.httpBody = message } else { request.httpMethod = "GET" }
    return request
  }

  func streamRequest(to url: URL, headers: Headers, timeout: TimeInterval?) throws(ConnectError) -> URLRequest {
    var request = URLRequest(url: url)
    request.headers = HTTPHeaders(
      headers.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value.joined(separator: ",")) })
    guard let malformed = request.headers.first(where: { !$0.isWellFormed }) else { return request }
    throw ConnectError(code: .invalidArgument, message: "the header \(malformed.name.debugDescription) cannot be sent")
  }

  func frame(_ message: Data) throws(ConnectError) -> Data { message }

  func reader(of kind: CallKind) -> any ResponseReader { CustomReader() }
}

/// Passes a response on as it is.
private struct CustomReader: ResponseReader {
  private var events: [ResponseEvent] = []
  private var code = Code.ok
  private var headers: Headers = [:]
  private(set) var isComplete = false

  mutating func begin(_ status: ResponseStatus, headers: Headers) {
    self.headers = headers
    code = status.inferredCode ?? .ok
    events.append(.headers(headers))
  }

  mutating func append(_ chunk: Data) {
    if !chunk.isEmpty { events.append(.message(chunk)) }
  }

  mutating func finish(code end: Code) {
    isComplete = true
    let code = code == .ok ? end : code
    let error = code == .ok ? nil : ConnectError.from(code: code, headers: headers, trailers: [:], source: nil)
    events.append(.complete(code: code, error: error, trailers: [:]))
  }

  mutating func next() -> ResponseEvent? { events.isEmpty ? nil : events.removeFirst() }
}
