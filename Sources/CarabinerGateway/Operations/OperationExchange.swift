internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// One request and its reply, with its log entry, metrics and trace.
final class OperationExchange: Sendable {
  /// The request ID.
  let id: String
  let reply: GatewayReply
  let batch: ResponseBatcher
  /// The executor on which the operation runs.
  let executor: any TaskExecutor
  let runner: any OperationRunner
  let metrics: GatewayMetrics
  /// The access log entry; nil if the request is not logged.
  let account: AccessLogEntry?
  let logger: Logger
  /// Replaces secrets in a text.
  let redact: @Sendable (String) -> String
  /// The heartbeat interval of a response in pieces.
  let heartbeat: TimeAmount
  /// The request's place in a trace; nil if it has none.
  let trace: RequestTrace?
  /// The response format; nil if the client accepts none, or it was not negotiated.
  let shape: ResponseFormat?
  /// Whether the response depends on the Accept field.
  let isNegotiated: Bool
  let start = ContinuousClock.now

  init(
    id: String, reply: GatewayReply, batch: ResponseBatcher, executor: any TaskExecutor, runner: any OperationRunner,
    metrics: GatewayMetrics, account: AccessLogEntry?, logger: Logger, redact: @escaping @Sendable (String) -> String,
    heartbeat: TimeAmount, trace: RequestTrace?, shape: ResponseFormat?, isNegotiated: Bool
  ) {
    self.id = id
    self.reply = reply
    self.batch = batch
    self.executor = executor
    self.runner = runner
    self.metrics = metrics
    self.account = account
    self.logger = logger
    self.redact = redact
    self.heartbeat = heartbeat
    self.trace = trace
    self.shape = shape
    self.isNegotiated = isNegotiated
  }

  /// Sends a complete response.
  func answer(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, _ body: ByteBuffer) {
    complete(&fields)
    reply.answer(status, fields, body, in: batch, from: executor)
    note(Int(status.code))
  }

  /// Sends an event stream with a single result, or with errors in its place.
  func answer(_ status: HTTPResponseStatus, _ fields: consuming ReplyFields, event json: some Collection<UInt8>) {
    let writer = PieceWriter(.events)
    fields.set("Content-Type", writer.contentType)
    fields.set("Cache-Control", "no-cache")
    answer(status, fields, ByteBuffer(bytes: writer.event(json) + writer.closing))
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
    if let piece { reply.repeatedly(ByteBuffer(bytes: piece), every: heartbeat) }
  }

  /// Adds the fields that all responses have.
  private func complete(_ fields: inout ReplyFields) {
    fields.set(RequestID.field, id)
    // A browser must not interpret JSON as HTML, because it may contain a client's text.
    fields.set("X-Content-Type-Options", "nosniff")
    // In addition to a `Vary` of a stage or the upstream (RFC 9110, 12.5.5).
    if isNegotiated { fields.add("Vary", "Accept") }
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
    answer(
      HTTPResponseStatus(statusCode: status), fields, errors: RefusalText.json(refusal.message, code: refusal.code))
  }

  /// Answers a failed operation.
  func fail(_ error: any Error, _ operation: DynamicOperation) {
    if error is CancellationError { return cancelled() }
    let failure = FailureAnswer(error, redact: redact)
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
    let plugin = runner.culprit(of: error)
    account?.note(failure: failure.code, plugin: plugin)
    var fields: Logger.Metadata = [
      "request_id": .string(id), "operation": .string(operation.operationName ?? "anonymous"),
      "status": .stringConvertible(failure.status), "error": .string(redact("\(error)")),
    ]
    if let plugin { fields["plugin"] = .string(plugin) }
    logger.warning("an operation failed", metadata: fields)
  }
}
