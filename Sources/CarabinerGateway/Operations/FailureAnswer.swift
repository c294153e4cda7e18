internal import Carabiner
internal import CarabinerWire

/// The response to a failed operation. It shows the kind of failure, but no details of the upstream.
struct FailureAnswer: Sendable, Hashable {
  let status: Int
  let code: String
  private(set) var message: String
  /// The machine-readable detail of a plugin's refusal.
  private(set) var detail: JSONValue?
  /// The upstream's `Retry-After`.
  var retryAfter: String?
  /// The upstream's GraphQL errors, which replace the message.
  var errors: [GraphQLError] = []

  /// The response body.
  var json: [UInt8] {
    JSONValue.object(["errors": errorList]).serialized()
  }

  /// The value of `errors` as JSON text.
  var list: [UInt8] { errorList.serialized() }

  private var errorList: JSONValue {
    guard errors.isEmpty else { return .array(errors.map { .object($0.object) }) }
    guard let detail else { return RefusalText.list(message, code: code) }
    return [["message": .string(message), "extensions": ["code": .string(code), "detail": detail]]]
  }

  /// The status of the response to an operation that failed.
  static func status(of error: any Error) -> Int { FailureAnswer(classifying: error).status }

  /// - Parameter redact: Replaces secrets in a text.
  init(_ error: any Error, redact: @escaping (String) -> String) {
    self.init(classifying: error)
    guard let error = error as? any ClientFacingError, (400..<500).contains(status) || status == 503 else { return }
    let text = ClientText(redact: redact)
    if let refusal = error.refusalMessage.map({ text.cleaned($0) }), !refusal.isEmpty { message = refusal }
    detail = error.refusalDetail.flatMap { text.detail($0) }
  }

  private init(classifying error: any Error) {
    switch error {
    case let error as ResponseCodeError:
      self.init(upstreamStatus: error.response.statusCode)
      if status == 429 || status == 503 { retryAfter = error.response.value(forHTTPHeaderField: "Retry-After") }
      if (400..<500).contains(error.response.statusCode) { errors = Self.errors(in: error) }
    case let error as any ClientFacingError where error.refusalStatus != nil:
      self.init(refusal: error.refusalStatus ?? 500, error.refusalDelay)
    case let error as TransportError: self.init(transport: error.code)
    case let error as WebSocketError: self.init(webSocket: error)
    case let error as UpstreamRefusal: self.init(upstream: error.code)
    case let error as WebSocketError where error.code == .tooManyOperations: self.init(upstream: .overloaded)
    // The form of the client turned out to be invalid after a part of it was passed on.
    case let error as RequestRefusal: self.init(error.status, error.code, error.message)
    case let error as RequestChainError where error.code == .timedOut || error.code == .idle:
      self.init(504, "UPSTREAM_TIMEOUT", "the operation did not finish in time")
    case let error as RequestChainError where error.code == .noResults:
      self.init(502, "NO_RESULT", "the operation returned no result")
    case is ResponseParsingError:
      self.init(502, "BAD_UPSTREAM_RESPONSE", "the server behind the gateway did not return a GraphQL response")
    case let error as SubscriptionError:
      self.init(502, "SUBSCRIPTION_ENDED", "the server behind the gateway ended the subscription")
      errors = error.errors
    default: self.init(500, "INTERCEPTOR_FAILED", "the operation could not be carried out")
    }
  }

  private init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  /// The errors of a GraphQL response that was rejected for its status; empty if the body is not a GraphQL response.
  private static func errors(in error: ResponseCodeError) -> [GraphQLError] {
    guard error.response.mediaType == "application/json", error.body.isGraphQLErrorResponse,
      let body = try? JSONValue(parsing: [UInt8](error.body))
    else { return [] }
    return body["errors"]?.array?.compactMap(\.object).map { GraphQLError($0) } ?? []
  }

  /// Only statuses that a client can act on are passed on. All others become 502.
  private init(upstreamStatus: Int) {
    switch upstreamStatus {
    case 401: self.init(401, "UNAUTHENTICATED", "the server behind the gateway requires authentication")
    case 403: self.init(403, "FORBIDDEN", "the server behind the gateway refuses this")
    case 429: self.init(429, "TOO_MANY_REQUESTS", "the server behind the gateway received too many requests")
    case 503: self.init(503, "UPSTREAM_UNAVAILABLE", "the server behind the gateway cannot answer now")
    default: self.init(502, "UPSTREAM_STATUS", "the server behind the gateway answered with the status \(upstreamStatus)")
    }
  }

  /// The maximum delay sent to a client: one day.
  private static let maximumDelay = Duration.seconds(86_400)

  /// The client gets the plugin's status. It gets the plugin's message only if the manifest entry allows it.
  private init(refusal status: Int, _ delay: Duration?) {
    switch status {
    case 401: self.init(401, "UNAUTHENTICATED", "the gateway requires authentication")
    case 403: self.init(403, "FORBIDDEN", "the gateway refuses this")
    case 429: self.init(429, "TOO_MANY_REQUESTS", "the gateway received too many requests")
    case 503: self.init(503, "UNAVAILABLE", "the gateway cannot answer now")
    case 400..<500: self.init(status, "REFUSED", "the gateway refuses this")
    default: self.init(status, "INTERCEPTOR_FAILED", "the operation could not be carried out")
    }
    // The field has whole seconds. The delay is rounded up.
    if let delay {
      let (seconds, rest) = min(delay, Self.maximumDelay).components
      retryAfter = String(seconds + (rest > 0 ? 1 : 0))
    }
  }

  private init(upstream code: UpstreamRefusal.Code) {
    switch code {
    case .noUpstream: self.init(503, code.rawValue, "no server behind the gateway is available")
    case .open: self.init(503, code.rawValue, "the servers behind the gateway fail too often")
    case .overloaded: self.init(503, code.rawValue, "the servers behind the gateway have too many requests")
    }
    retryAfter = "1"
  }

  private static let late = FailureAnswer(504, "UPSTREAM_TIMEOUT", "the server behind the gateway did not answer in time")
  private static let unreachable = FailureAnswer(502, "UPSTREAM_UNREACHABLE", "the server behind the gateway cannot be reached")

  private init(transport code: TransportError.Code) {
    switch code {
    case .timedOut: self = .late
    case .nameNotResolved, .cannotConnect, .proxyFailed, .tls: self = .unreachable
    default: self.init(502, "UPSTREAM_FAILED", "the server behind the gateway closed the connection or returned invalid HTTP")
    }
  }

  private init(webSocket error: WebSocketError) {
    switch error.code {
    case .connectTimeout, .acknowledgementTimeout, .keepAliveTimeout: self = .late
    case .cannotConnect, .tls, .proxyUnsupported: self = .unreachable
    case .upgradeRefused: self.init(upstreamStatus: error.statusCode ?? 0)
    case .unauthorized: self.init(upstreamStatus: 401)
    case .forbidden: self.init(upstreamStatus: 403)
    case .tooManyOperations: self.init(upstream: .overloaded)
    case .shutDown: self.init(upstreamStatus: 503)
    case .unsupportedURL, .invalidHeader, .invalidUpgrade, .subprotocolRefused, .initialisationFailed, .initialisationRefused,
      .connectionLost, .badRequest, .subscriberExists, .tooManyInitialisations, .serverFailed, .closed, .invalidMessage,
      .messageTooLarge, .protocolViolation:
      self.init(
        502, "UPSTREAM_FAILED", "the server behind the gateway ended the WebSocket, or did not follow its protocol")
    }
  }
}
