internal import Carabiner
package import CarabinerTracing
internal import NIOHTTP1
internal import Tracing

/// Decides once for each request whether it is traced, and begins its trace.
///
/// An untraced request costs one header lookup and, if traces begin here, one random number.
package struct RequestTracing: Sendable {
  private let tracer: OTLPTracer
  private let redact: @Sendable (String) -> String

  /// - Parameter redact: Replaces secrets in a text.
  package init(_ tracer: OTLPTracer, redact: @escaping @Sendable (String) -> String) {
    self.tracer = tracer
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
      $0[AttributeName.urlScheme] = request.origin.isSecure ? "https" : "http"
      $0[AttributeName.route] = route
      $0[AttributeName.protocolVersion] = "\(request.head.version.major).\(request.head.version.minor)"
      $0[AttributeName.clientAddress] = request.client
      if let agent = headers["user-agent"] { $0[AttributeName.userAgent] = agent }
      if let host = headers["host"] {
        let (name, port) = Self.hostAndPort(host)
        $0[AttributeName.serverAddress] = name
        if let port { $0[AttributeName.serverPort] = port }
      }
    }
    return .recorded(span)
  }

  /// The trace of an operation that came over a WebSocket; nil if there is nothing to record and nothing to pass on.
  ///
  /// - Parameter headers: The fields of the WebSocket's handshake.
  func begin(_ operation: DynamicOperation, _ headers: Carabiner.HTTPHeaders, client: String, isSecure: Bool, route: String)
    -> RequestTrace?
  {
    guard let service = recorded(headers) else { return passedOn(headers) }
    let span = RequestSpan("\(operation.operationType) \(route)", tracer: tracer, context: service, redact: redact) {
      $0[AttributeName.protocolName] = "websocket"
      $0[AttributeName.urlPath] = route
      $0[AttributeName.urlScheme] = isSecure ? "wss" : "ws"
      $0[AttributeName.route] = route
      $0[AttributeName.clientAddress] = client
      if let agent = headers["user-agent"] { $0[AttributeName.userAgent] = agent }
    }
    return .recorded(span)
  }

  // MARK: Deciding

  /// The context of a request that is recorded; nil if it is not.
  private func recorded(_ headers: Carabiner.HTTPHeaders) -> ServiceContext? {
    let context = tracer.sampler.context(of: Self.parent(headers)) { TraceState(headers.values(for: TraceState.fieldName)) }
    guard let context else { return nil }
    var service = ServiceContext.topLevel
    service.trace = context
    return service
  }

  private func passedOn(_ headers: Carabiner.HTTPHeaders) -> RequestTrace? {
    Self.parent(headers).map {
      .passedOn(TraceContext($0, state: TraceState(headers.values(for: TraceState.fieldName))).unsampled)
    }
  }

  /// The parent span of a request. The field is ignored if it is malformed or present more than once.
  private static func parent(_ headers: Carabiner.HTTPHeaders) -> TraceParent? {
    guard let first = headers.firstIndex(of: TraceParent.fieldName),
      headers.firstIndex(of: TraceParent.fieldName, from: first + 1) == nil
    else { return nil }
    return TraceParent(headers.value(at: first))
  }

  /// The method's name, and whether it is a standard method. Clients could use any number of other names.
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
