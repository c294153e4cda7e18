internal import Carabiner
internal import FoundationEssentials

/// One call: its settings, its method, and the client that sends it.
package struct CallPlan: Sendable {
  let config: CallConfig
  let client: any HTTPClientInterface
  let path: String
  let type: MethodSpec.MethodType
  let headers: Headers
  let idempotencyLevel: IdempotencyLevel
  let wire: any CallProtocol

  package init(
    _ path: String, _ type: MethodSpec.MethodType, headers: Headers, idempotencyLevel: IdempotencyLevel = .unknown,
    config: CallConfig, client: any HTTPClientInterface
  ) {
    self.path = String(path.drop { $0 == "/" })
    self.type = type
    self.headers = headers
    self.idempotencyLevel = idempotencyLevel
    self.config = config
    self.client = client
    wire = config.wire
  }

  /// The time limit in seconds; nil for none.
  var timeout: TimeInterval? { config.timeout.flatMap { $0.isFinite ? $0 : nil } }

  /// The time limit for a clock.
  var timeoutDuration: Duration? { timeout.map { .bounded(seconds: $0) } }

  /// Whether a call with this level may be sent by GET.
  func allowsGET(_ level: IdempotencyLevel) -> Bool {
    guard type == .unary, level == .noSideEffects, case .connect(.some) = config.network else { return false }
    return true
  }

  /// The first request, which the hooks get.
  ///
  /// - Throws: ``ConnectError`` if host and path are not a URL.
  func request<Input: Sendable>(_ message: Input) throws(ConnectError) -> HTTPRequest<Input> {
    var headers = headers
    for name in headers.keys where name.isSameHeaderName(as: HeaderConstants.contentType) { headers[name] = nil }
    headers[HeaderConstants.contentType] = [wire.contentType(of: type == .unary ? .unary : .stream)]
    return HTTPRequest(
      url: try url(), headers: headers, message: message, method: allowsGET(idempotencyLevel) ? .get : .post, trailers: nil,
      idempotencyLevel: idempotencyLevel)
  }

  /// The request as it is sent.
  func sent(_ request: HTTPRequest<Data?>) throws(ConnectError) -> HTTPRequest<Data?> {
    let made = try wire.unaryRequest(
      to: request.url, headers: request.headers, message: request.message ?? Data(), timeout: timeout, getLimit: getLimit(request)
    )
    return outgoing(made, of: request, isWhole: true)
  }

  /// The request of a stream as it is sent, without its body.
  func opening(_ request: HTTPRequest<Void>) throws(ConnectError) -> HTTPRequest<Data?> {
    let made = try wire.streamRequest(to: request.url, headers: request.headers, timeout: timeout)
    return outgoing(made, of: request, isWhole: type == .serverStream)
  }

  private func outgoing<Input>(_ made: URLRequest, of request: HTTPRequest<Input>, isWhole: Bool) -> HTTPRequest<Data?> {
    var sent = HTTPRequest<Data?>(
      url: made.url, headers: made.headers.reduce(into: [:]) { $0[$1.name, default: []].append($1.value) },
      message: made.httpBody, method: made.httpMethod == "GET" ? .get : .post, trailers: request.trailers,
      idempotencyLevel: request.idempotencyLevel)
    sent.exchange = Exchange(operation: operation, isWhole: isWhole, maximumBytes: config.options.maximumMessageBytes)
    return sent
  }

  private func getLimit(_ request: HTTPRequest<Data?>) -> Int? {
    guard request.method == .get else { return nil }
    return switch config.network {
    case .connect(let limit): allowsGET(request.idempotencyLevel) ? limit : nil
    case .grpcWeb: nil
    case .custom: .max
    }
  }

  private func url() throws(ConnectError) -> URL {
    let endsInSlash = config.host.hasSuffix("/") && !config.host.hasSuffix("://")
    let base = endsInSlash ? String(config.host.dropLast()) : config.host
    guard let url = URL(string: "\(base)/\(path)"), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      url.host()?.isEmpty == false
    else {
      let host = PrintableURL(config.host).description.debugDescription
      throw ConnectError(
        code: .invalidArgument, message: "the host \(host) is not an http or https URL; set it to the address of the server")
    }
    guard url.query() == nil, url.fragment() == nil else {
      throw ConnectError(
        code: .invalidArgument,
        message: "the URL \(PrintableURL(url).withoutQuery) had a query or a fragment; remove it from the host and the path")
    }
    guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
      throw ConnectError(
        code: .invalidArgument,
        message: "the path \(path.debugDescription) leaves the server's path; a path is package.Service/Method")
    }
    return url
  }

  /// The call as interceptors of the core see it.
  private var operation: DynamicOperation {
    let kind: GraphQLOperationType =
      switch type {
      case .unary: idempotencyLevel == .noSideEffects ? .query : .mutation
      case .clientStream: .mutation
      case .serverStream, .bidirectionalStream: .subscription
      }
    return DynamicOperation(document: "", operationName: path, operationType: kind)
  }
}
