internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// One request and its reply, with its log entry, metrics and trace.
struct OperationExchange: Sendable {
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
  /// The response format; nil until it has been negotiated.
  var shape: ResponseFormat?
  /// Whether the response depends on the Accept field.
  let isNegotiated: Bool
  let start = ContinuousClock.now

  /// Sends a complete response.
  func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, _ body: ByteBuffer) {
    reply.answer(status, completed(headers), body, in: batch, from: executor)
    note(Int(status.code))
  }

  /// Sends an event stream with a single result, or with errors in its place.
  func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, event json: some Collection<UInt8>) {
    let writer = PieceWriter(.events)
    var headers = headers
    headers.replaceOrAdd(name: "Content-Type", value: writer.contentType)
    headers.replaceOrAdd(name: "Cache-Control", value: "no-cache")
    answer(status, headers, ByteBuffer(bytes: writer.event(json) + writer.closing))
  }

  /// Sends errors in place of a result.
  private func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, errors json: [UInt8]) {
    if shape?.takesOnlyEvents == true { return answer(status, headers, event: json) }
    var headers = headers
    headers.replaceOrAdd(name: "Content-Type", value: (shape?.whole ?? .json).contentType)
    answer(status, headers, ByteBuffer(bytes: json))
  }

  /// Begins a response in pieces.
  ///
  /// - Parameter piece: The heartbeat, which is sent at an interval until the response ends.
  func begin(_ headers: NIOHTTP1.HTTPHeaders, opening: [UInt8], heartbeat piece: [UInt8]?) {
    reply.begin(.ok, completed(headers))
    if !opening.isEmpty { reply.write(ByteBuffer(bytes: opening)) }
    if let piece { reply.repeatedly(ByteBuffer(bytes: piece), every: heartbeat) }
  }

  /// Adds the fields that all responses have.
  private func completed(_ headers: NIOHTTP1.HTTPHeaders) -> NIOHTTP1.HTTPHeaders {
    var headers = headers
    headers.replaceOrAdd(name: RequestID.field, value: id)
    // A browser must not interpret JSON as HTML, because it may contain a client's text.
    headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
    // In addition to a `Vary` of a stage or the upstream (RFC 9110, 12.5.5).
    if isNegotiated { headers.add(name: "Vary", value: "Accept") }
    return headers
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
    var headers: NIOHTTP1.HTTPHeaders = [:]
    // Clients that accept only `application/json` treat other statuses as a proxy error.
    let status = refusal.isGraphQLError && shape?.whole == .json ? 200 : refusal.status
    trace?.failed(refusal.status, refusal.code)
    for (name, value) in refusal.headers { headers.replaceOrAdd(name: name, value: value) }
    account?.note(failure: refusal.code, plugin: nil)
    answer(
      HTTPResponseStatus(statusCode: status), headers, errors: RefusalText.json(refusal.message, code: refusal.code))
  }

  /// Answers a failed operation.
  func fail(_ error: any Error, _ operation: DynamicOperation) {
    if error is CancellationError { return cancelled() }
    let failure = FailureAnswer(error, redact: redact)
    log(error, operation, failure)
    trace?.failed(failure.status, failure.code)
    var headers: NIOHTTP1.HTTPHeaders = [:]
    if let time = failure.retryAfter, Carabiner.HTTPHeaders.Field(name: "Retry-After", value: time).isWellFormed {
      headers.add(name: "Retry-After", value: time)
    }
    answer(HTTPResponseStatus(statusCode: failure.status), headers, errors: failure.json)
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
