internal import Carabiner
package import CarabinerTracing
internal import NIOHTTP1
internal import Tracing

/// Decides for each request whether it is traced, once, and begins its trace.
///
/// A request that is not costs a look for one field of its head and, if traces begin here, a number.
package struct RequestTracing: Sendable {
  private let tracer: OTLPTracer
  private let scheme: String
  private let redact: @Sendable (String) -> String

  /// - Parameters:
  ///   - scheme: What clients speak, `http` or `https`.
  ///   - redact: Takes out of a text what must not leave the process.
  package init(_ tracer: OTLPTracer, scheme: String, redact: @escaping @Sendable (String) -> String) {
    self.tracer = tracer
    self.scheme = scheme
    self.redact = redact
  }

  /// The trace of a request; nil if there is nothing to record and nothing to pass on.
  func begin(_ request: GatewayRequest, route: String) -> RequestTrace? {
    let headers = request.head.headers
    guard let service = recorded(headers) else { return passedOn(headers) }
    let (method, isKnown) = Self.method(request.head.method)
    let span = RequestSpan("\(isKnown ? method : "HTTP") \(route)", tracer: tracer, context: service, redact: redact) {
      $0[AttributeName.method] = isKnown ? method : "_OTHER"
      if !isKnown { $0[AttributeName.originalMethod] = method }
      $0[AttributeName.urlPath] = String(request.path)
      $0[AttributeName.urlScheme] = scheme
      $0[AttributeName.route] = route
      $0[AttributeName.protocolVersion] = "\(request.head.version.major).\(request.head.version.minor)"
      $0[AttributeName.clientAddress] = request.client
      if let agent = headers.first(name: "user-agent") { $0[AttributeName.userAgent] = agent }
      if let host = headers.first(name: "host") {
        let (name, port) = Self.hostAndPort(host)
        $0[AttributeName.serverAddress] = name
        if let port { $0[AttributeName.serverPort] = port }
      }
    }
    return .recorded(span)
  }

  /// The trace of an operation that came over a WebSocket; nil if there is nothing to record and nothing to pass on.
  ///
  /// - Parameter headers: What the connection was asked for with.
  func begin(_ operation: DynamicOperation, _ headers: NIOHTTP1.HTTPHeaders, client: String, route: String) -> RequestTrace? {
    guard let service = recorded(headers) else { return passedOn(headers) }
    let span = RequestSpan("\(operation.operationType) \(route)", tracer: tracer, context: service, redact: redact) {
      $0[AttributeName.protocolName] = "websocket"
      $0[AttributeName.urlPath] = route
      $0[AttributeName.urlScheme] = scheme == "https" ? "wss" : "ws"
      $0[AttributeName.route] = route
      $0[AttributeName.clientAddress] = client
      if let agent = headers.first(name: "user-agent") { $0[AttributeName.userAgent] = agent }
    }
    return .recorded(span)
  }

  // MARK: Deciding

  /// The context of what is to be recorded; nil if it is not.
  private func recorded(_ headers: NIOHTTP1.HTTPHeaders) -> ServiceContext? {
    let context = tracer.sampler.context(of: Self.parent(headers)) { TraceState(headers[TraceState.fieldName]) }
    guard let context else { return nil }
    var service = ServiceContext.topLevel
    service.trace = context
    return service
  }

  private func passedOn(_ headers: NIOHTTP1.HTTPHeaders) -> RequestTrace? {
    Self.parent(headers).map { .passedOn(TraceContext($0, state: TraceState(headers[TraceState.fieldName])).unsampled) }
  }

  /// The span a request was made within; a field that is malformed or comes twice is not heeded.
  private static func parent(_ headers: NIOHTTP1.HTTPHeaders) -> TraceParent? {
    guard let text = headers.first(name: TraceParent.fieldName), headers[TraceParent.fieldName].count == 1 else { return nil }
    return TraceParent(text)
  }

  /// The method's name, and whether it is one of the standard's: others may be as many as clients think of.
  private static func method(_ method: HTTPMethod) -> (name: String, isKnown: Bool) {
    switch method {
    case .GET, .POST, .PUT, .DELETE, .HEAD, .OPTIONS, .PATCH, .CONNECT, .TRACE: (method.rawValue, true)
    default: (method.rawValue, false)
    }
  }

  private static func hostAndPort(_ host: String) -> (name: String, port: Int?) {
    guard let colon = host.lastIndex(of: ":"), let port = UInt16(host[host.index(after: colon)...]) else { return (host, nil) }
    return (String(host[..<colon]), Int(port))
  }
}
