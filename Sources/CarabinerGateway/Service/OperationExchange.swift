internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// One request and its reply, with its log entry, metrics and trace.
final class OperationExchange: Sendable {
  let service: OperationService
  let request: GatewayRequest
  /// The request ID.
  let id: String
  let reply: GatewayReply
  /// The executor on which the operation runs.
  let executor: any TaskExecutor
  /// The access log entry; nil if the request is not logged.
  let account: AccessLogEntry?
  /// The path of the gateway at which the request arrived; empty at other paths.
  let route: String
  /// The request's place in a trace; nil if it has none.
  let trace: RequestTrace?
  /// The response format; nil if the client accepts none, or it was not negotiated.
  let shape: ResponseFormat?
  /// Whether the response depends on the Accept field.
  let isNegotiated: Bool
  /// The policy of the generation that was current when the request arrived; nil for none.
  let policy: ClientPolicy?
  let start = ContinuousClock.now

  /// - Parameters:
  ///   - isLogged: Whether the request gets a line in the access log.
  ///   - isNegotiated: Whether the response depends on the Accept field.
  init(
    _ service: OperationService, _ request: GatewayRequest, _ reply: GatewayReply, route: String = "",
    trace: RequestTrace? = nil, shape: ResponseFormat? = nil, isLogged: Bool = true, isNegotiated: Bool = true
  ) {
    let id = RequestID.of(request.head.headers)
    self.service = service
    self.request = request
    self.id = id
    self.reply = reply
    executor = service.runner.executor
    account = isLogged ? service.accessLogger.map { AccessLogEntry($0, id: id, client: request.client) } : nil
    self.route = route
    self.trace = trace
    self.shape = shape
    self.isNegotiated = isNegotiated
    policy = service.policies.value
  }

  var metrics: GatewayMetrics { service.metrics }

  /// Sends a complete response.
  ///
  /// - Parameter compressed: The body in a content coding, if it was compressed already.
  func answer(
    _ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer, compressed: CompressedBody? = nil
  ) {
    var body = body
    if let rule = policy?.compression { compress(&body, &fields, by: rule, compressed) }
    send(status, fields, body)
  }

  private func send(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer) {
    complete(&fields)
    reply.answer(status, fields, body, in: service.batch, from: executor)
    note(Int(status.code))
  }

  /// Answers a preflight.
  func answer(preflight rule: CrossOriginRule) {
    do throws(RequestRefusal) {
      var fields: ReplyFields = [:]
      for (name, value) in try rule.preflight(request.head) { fields.add(name, value) }
      answer(.noContent, fields, ByteBuffer())
    } catch {
      refuse(error)
    }
  }

  /// Sends an event stream with a single result, or with errors in its place.
  func answer(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, event json: some Collection<UInt8>) {
    let writer = PieceWriter(.events)
    fields.set("Content-Type", writer.contentType)
    fields.set("Cache-Control", "no-cache")
    send(status, fields, ByteBuffer(bytes: writer.event(json) + writer.closing))
  }

  /// Sends errors in place of a result.
  private func answer(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, errors json: [UInt8]) {
    if shape?.takesOnlyEvents == true { return answer(status, fields, event: json) }
    fields.set("Content-Type", (shape?.whole ?? .json).contentType)
    answer(status, fields, ByteBuffer(bytes: json))
  }

  /// Begins a response in pieces.
  ///
  /// - Parameter piece: The heartbeat, which is sent at an interval until the response ends.
  func begin(_ fields: consuming ReplyFields, opening: [UInt8], heartbeat piece: [UInt8]?) {
    complete(&fields)
    reply.begin(.ok, fields)
    if !opening.isEmpty { reply.write(ByteBuffer(bytes: opening)) }
    if let piece { reply.repeatedly(ByteBuffer(bytes: piece), every: service.settings.limits.heartbeat) }
  }

  /// Adds the fields that all responses have.
  func complete(_ fields: inout ReplyFields) {
    fields.set(RequestID.field, id)
    // A browser must not interpret JSON as HTML, because it may contain a client's text.
    fields.set("X-Content-Type-Options", "nosniff")
    // In addition to a `Vary` of a stage or the upstream (RFC 9110, 12.5.5).
    if isNegotiated { fields.add("Vary", "Accept") }
    if let crossOrigin = policy?.crossOrigin { crossOrigin.fields(for: request.head.headers) { fields.add($0, $1) } }
  }

  /// Records that the response has been sent.
  func note(_ status: Int) {
    let time = ContinuousClock.now - start
    metrics.answered(status, in: time)
    account?.end(status, after: time)
    trace?.answered(status)
  }

  /// Records that the client disconnected before the response.
  func cancelled() {
    reply.abandon()
    metrics.cancelled()
    account?.end(nil, after: ContinuousClock.now - start)
    trace?.cancelled()
  }

  /// Answers a request that cannot be executed.
  func refuse(_ refusal: RequestRefusal) {
    var fields: ReplyFields = [:]
    // Clients that accept only `application/json` treat other statuses as a proxy error.
    let status = refusal.isGraphQLError && shape?.whole == .json ? 200 : refusal.status
    trace?.failed(refusal.status, refusal.code)
    for (name, value) in refusal.headers { fields.set(name, value) }
    account?.note(failure: refusal.code, plugin: nil)
    answer(HTTPResponseStatus(statusCode: status), fields, errors: refusal.json)
  }

  /// Answers a failed operation.
  func fail(_ error: any Error, _ operation: DynamicOperation) {
    if error is CancellationError { return cancelled() }
    let failure = FailureAnswer(error, redact: service.redact)
    log(error, operation, failure)
    trace?.failed(failure.status, failure.code)
    var fields: ReplyFields = [:]
    if let time = failure.retryAfter, HTTPHeaders.Field(name: "Retry-After", value: time).isWellFormed {
      fields.add("Retry-After", time)
    }
    answer(HTTPResponseStatus(statusCode: failure.status), fields, errors: failure.json)
  }

  /// Logs the details that the client does not get.
  func log(_ error: any Error, _ operation: DynamicOperation, _ failure: FailureAnswer) {
    let plugin = service.runner.culprit(of: error)
    account?.note(failure: failure.code, plugin: plugin)
    var fields: Logger.Metadata = [
      "request_id": .string(id), "operation": .string(operation.operationName ?? "anonymous"),
      "status": .stringConvertible(failure.status), "error": .string(service.redact("\(error)")),
    ]
    if let plugin { fields["plugin"] = .string(plugin) }
    service.logger.warning("an operation failed", metadata: fields)
  }
}
