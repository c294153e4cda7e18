internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// What the WebSockets of a gateway share: they come out of the same admission and go through the same chain as what comes over HTTP.
final class SocketService: Sendable {
  let limits: GatewayLimits
  let runner: any OperationRunner
  /// What is counted of all operations.
  let operationMetrics: GatewayMetrics
  private let path: String
  private let rateLimiter: RateLimiter?
  private let tracing: RequestTracing?
  private let documents: DocumentIndex
  private let admission: Admission
  private let logger: Logger
  /// Takes out of a text what clients and the log must not hold.
  let redact: @Sendable (String) -> String

  init(
    path: String, limits: GatewayLimits, runner: any OperationRunner, documents: DocumentIndex, admission: Admission,
    rateLimiter: RateLimiter?, metrics: GatewayMetrics, tracing: RequestTracing?, logger: Logger,
    redact: @escaping @Sendable (String) -> String
  ) {
    self.path = path
    self.limits = limits
    self.runner = runner
    self.documents = documents
    self.admission = admission
    self.rateLimiter = rateLimiter
    operationMetrics = metrics
    self.tracing = tracing
    self.logger = logger
    self.redact = redact
  }

  /// What is counted of WebSockets.
  var metrics: SocketMetrics { operationMetrics.sockets }

  /// Agrees to a request for a WebSocket.
  ///
  /// - Throws: A refusal with its status.
  func accept(_ request: GatewayRequest) throws(RequestRefusal) -> SocketUpgrade {
    guard request.body.readableBytes == 0 else {
      throw RequestRefusal(400, "a request for a WebSocket has no body", code: "BAD_HANDSHAKE")
    }
    let handshake = try SocketHandshake(request.head, origins: limits.allowedOrigins)
    return SocketUpgrade(answer: handshake.answer, service: self, headers: request.head.headers, client: request.client)
  }

  /// The fields of a handshake and those that `connection_init` may add to them.
  func headers(
    _ handshake: NIOHTTP1.HTTPHeaders, with payload: [UInt8]?
  ) throws(ConnectionInitHeaders.Fault) -> NIOHTTP1.HTTPHeaders {
    try ConnectionInitHeaders(payload, limits: limits).added(
      to: handshake, allowed: runner.connectionInitHeaders, limits: limits)
  }

  /// The operation that a client subscribes to.
  ///
  /// - Throws: A refusal; its message and code are for the client.
  func operation(_ parameters: GraphQLParameters) throws(RequestRefusal) -> DynamicOperation {
    try InboundOperations.operation(parameters, documents)
  }

  /// Lets an operation begin, now or later; it leaves by itself.
  ///
  /// - Throws: A refusal if there is no room for it.
  func admit(_ operation: SocketOperation, _ link: SocketLink) throws(RequestRefusal) {
    let client = link.client
    do throws(RequestRefusal) {
      try rateLimiter?.charge(1, link.headers, client)
    } catch {
      operationMetrics.rateLimited()
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

  /// The place of an operation in the trace its connection was made within; nil if it has none.
  func trace(_ operation: DynamicOperation, _ link: SocketLink) -> RequestTrace? {
    tracing?.begin(operation, link.headers, client: link.client, route: path)
  }

  /// Writes down for the operators what the client is not told.
  func log(_ error: any Error, _ operation: DynamicOperation, _ failure: FailureAnswer, _ link: SocketLink) {
    logger.warning(
      "an operation failed",
      metadata: [
        "request_id": "\(link.requestID)", "operation": "\(operation.operationName ?? "anonymous")", "code": "\(failure.code)",
        "error": "\(redact("\(error)"))",
      ])
  }
}

/// A WebSocket that was agreed to, and takes its connection over.
package struct SocketUpgrade: Sendable {
  let answer: NIOHTTP1.HTTPHeaders
  let service: SocketService
  let headers: NIOHTTP1.HTTPHeaders
  let client: String
}
