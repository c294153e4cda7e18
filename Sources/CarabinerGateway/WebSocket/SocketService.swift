internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOWebSocket

/// The shared state of a gateway's WebSockets. Their operations use the same admission and chain as those over HTTP.
final class SocketService: Sendable {
  private let settings: CurrentSettings
  let runner: any OperationRunner
  /// The metrics of all operations.
  let operationMetrics: GatewayMetrics
  private let policies: CurrentPolicy
  private let tracing: RequestTracing?
  private let gate: OperationGate
  private let admission: Admission
  private let logger: Logger
  /// Replaces secrets in a text.
  let redact: @Sendable (String) -> String

  init(
    settings: CurrentSettings, runner: any OperationRunner, policies: CurrentPolicy = CurrentPolicy(), gate: OperationGate,
    admission: Admission, metrics: GatewayMetrics, tracing: RequestTracing?, logger: Logger,
    redact: @escaping @Sendable (String) -> String
  ) {
    self.settings = settings
    self.runner = runner
    self.policies = policies
    self.gate = gate
    self.admission = admission
    operationMetrics = metrics
    self.tracing = tracing
    self.logger = logger
    self.redact = redact
  }

  /// The limits now.
  var limits: GatewayLimits { settings.limits }

  /// The WebSocket metrics.
  var metrics: SocketMetrics { operationMetrics.sockets }

  /// Accepts a WebSocket handshake at a path of the gateway.
  ///
  /// - Throws: A refusal with its status.
  func accept(_ request: GatewayRequest, at path: String) throws(RequestRefusal) -> SocketUpgrade {
    guard request.body.readableBytes == 0 else {
      throw RequestRefusal(400, "a request for a WebSocket has no body", code: "BAD_HANDSHAKE")
    }
    let crossOrigin = policies.value?.crossOrigin
    let limits = limits
    let handshake = try SocketHandshake(
      request.head, origins: limits.allowedOrigins, crossOrigin: crossOrigin,
      dialects: limits.takesLegacyWebSockets ? [.graphQLTransportWS, .graphQLWS] : [.graphQLTransportWS])
    var headers = request.head.headers
    // Browsers send cookies with each handshake, also where CORS would withhold them from a request.
    if handshake.isForeign, crossOrigin?.allowsCredentials != true { headers.remove("cookie") }
    let accepted = AcceptedSocket(
      service: self, dialect: handshake.dialect, headers: headers, client: request.client, path: path,
      isSecure: request.origin.isSecure, forwarded: settings.value.forwardedFields(of: request))
    return SocketUpgrade(answer: handshake.answer) { connections in
      let handler = SocketHandler(accepted, connections: connections)
      let frames = ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: handler.maximumMessageBytes))
      return [frames, WebSocketFrameEncoder(), handler]
    }
  }

  /// The fields of a handshake, with those that `connection_init` may add.
  func headers(
    _ handshake: Carabiner.HTTPHeaders, with payload: [UInt8]?
  ) throws(ConnectionInitHeaders.Fault) -> Carabiner.HTTPHeaders {
    let limits = limits
    return try ConnectionInitHeaders(payload, limits: limits).added(
      to: handshake, allowed: runner.connectionInitHeaders, limits: limits)
  }

  /// Returns the operation of a `subscribe` message.
  ///
  /// - Throws: A refusal, whose message and code are sent to the client.
  func operation(_ parameters: GraphQLParameters) throws(RequestRefusal) -> DynamicOperation {
    try gate.operation(parameters, policies.value?.operations)
  }

  /// Starts an operation now or later, and releases its place when it ends.
  ///
  /// - Throws: A refusal if a limit is reached.
  func admit(_ operation: SocketOperation, _ link: SocketLink) throws(RequestRefusal) {
    let client = link.client
    do throws(RequestRefusal) {
      try settings.value.charge(1, link.headers, client)
    } catch {
      if error.status == 429 { operationMetrics.rateLimited() }
      throw error
    }
    let verdict = admission.enter(client) { [self] in
      operation.run(on: runner.executor) { [self] in
        await operation.deliver(self, link)
        admission.leave(client)
      }
    }
    switch verdict {
    case .begun, .waiting: break
    case .crowded: throw .overloaded(limits)
    case .clientLimitExceeded: throw .clientLimitExceeded(limits)
    }
  }

  /// The operation's place in the trace of its connection; nil if it has none.
  func trace(_ operation: DynamicOperation, _ link: SocketLink) -> RequestTrace? {
    tracing?.begin(operation, link.headers, client: link.client, isSecure: link.isSecure, route: link.path)
  }

  /// Logs the details that the client does not get.
  func log(_ error: any Error, _ operation: DynamicOperation, _ failure: FailureAnswer, _ link: SocketLink) {
    logger.warning(
      "an operation failed",
      metadata: [
        "request_id": "\(link.requestID)", "operation": "\(operation.operationName ?? "anonymous")", "code": "\(failure.code)",
        "error": "\(redact("\(error)"))",
      ])
  }
}
