internal import Carabiner
internal import CarabinerWire
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// One request and its reply, with what is noted of it.
struct OperationExchange: Sendable {
  /// What the request is called.
  let id: String
  let reply: GatewayReply
  let batch: ResponseBatcher
  /// Where the operation runs.
  let executor: any TaskExecutor
  let runner: any OperationRunner
  let metrics: GatewayMetrics
  /// What is written down of the request; nil if nothing is.
  let account: AccessLogEntry?
  let logger: Logger
  /// Takes out of a text what the log must not hold.
  let redact: @Sendable (String) -> String
  /// How often an answer in pieces gives a sign of life.
  let heartbeat: TimeAmount
  /// Its place in a trace; nil if it has none.
  let trace: RequestTrace?
  /// How the client takes results; nil until that is known.
  var shape: ResponseFormat?
  /// Whether the Accept field decided about the answer.
  let isNegotiated: Bool
  let start = ContinuousClock.now

  /// Answers with a body that is there.
  func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, _ body: ByteBuffer) {
    reply.answer(status, completed(headers), body, in: batch, from: executor)
    note(Int(status.code))
  }

  /// Answers with an event stream that has one result, or errors in place of one.
  func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, event json: some Collection<UInt8>) {
    let writer = PieceWriter(.events)
    var headers = headers
    headers.replaceOrAdd(name: "Content-Type", value: writer.contentType)
    headers.replaceOrAdd(name: "Cache-Control", value: "no-cache")
    answer(status, headers, ByteBuffer(bytes: writer.event(json) + writer.closing))
  }

  /// Answers with errors in place of a result.
  private func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, errors json: [UInt8]) {
    if shape?.takesOnlyEvents == true { return answer(status, headers, event: json) }
    var headers = headers
    headers.replaceOrAdd(name: "Content-Type", value: (shape?.whole ?? .json).contentType)
    answer(status, headers, ByteBuffer(bytes: json))
  }

  /// Begins an answer in pieces.
  ///
  /// - Parameter piece: A piece without a meaning, which is sent now and then until the answer ends.
  func begin(_ headers: NIOHTTP1.HTTPHeaders, opening: [UInt8], heartbeat piece: [UInt8]?) {
    reply.begin(.ok, completed(headers))
    if !opening.isEmpty { reply.write(ByteBuffer(bytes: opening)) }
    if let piece { reply.repeatedly(ByteBuffer(bytes: piece), every: heartbeat) }
  }

  /// The fields that all answers have, with these.
  private func completed(_ headers: NIOHTTP1.HTTPHeaders) -> NIOHTTP1.HTTPHeaders {
    var headers = headers
    headers.replaceOrAdd(name: RequestID.field, value: id)
    // A browser must not take JSON with a client's own text in it for a page.
    headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
    // Beside what a stage or the upstream says (RFC 9110, 12.5.5).
    if isNegotiated { headers.add(name: "Vary", value: "Accept") }
    return headers
  }

  /// Notes that an answer is out.
  func note(_ status: Int) {
    let time = ContinuousClock.now - start
    metrics.answered(status, in: time)
    account?.end(status, after: time)
    trace?.answered(status)
  }

  /// The client went before there was an answer.
  func cancelled() {
    reply.abandon()
    metrics.cancelled()
    account?.end(nil, after: ContinuousClock.now - start)
    trace?.cancelled()
  }

  /// Answers that the request is none.
  func refuse(_ refusal: RequestRefusal) {
    var headers: NIOHTTP1.HTTPHeaders = [:]
    // Clients that do not know the newer media type take any status but 200 for that of a proxy.
    let status = refusal.isGraphQLError && shape?.whole == .json ? 200 : refusal.status
    trace?.failed(refusal.status, refusal.code)
    for (name, value) in refusal.headers { headers.replaceOrAdd(name: name, value: value) }
    account?.note(failure: refusal.code, plugin: nil)
    answer(
      HTTPResponseStatus(statusCode: status), headers, errors: RefusalText.json(refusal.message, code: refusal.code))
  }

  /// Answers that the operation failed.
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

  /// Writes down for the operators what the client is not told.
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
