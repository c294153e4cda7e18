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
  let batch: AnswerBatch
  /// Where the operation runs.
  let executor: any TaskExecutor
  let runner: any OperationRunner
  let metrics: GatewayMetrics
  /// What is written down of the request; nil if nothing is.
  let account: RequestAccount?
  let logger: Logger
  /// Takes out of a text what the log must not hold.
  let redact: @Sendable (String) -> String
  /// Its place in a trace; nil if it has none.
  let trace: RequestTrace?
  let start = ContinuousClock.now

  /// Answers with a body that is there.
  func answer(_ status: HTTPResponseStatus, _ headers: NIOHTTP1.HTTPHeaders, _ body: ByteBuffer) {
    var headers = headers
    headers.replaceOrAdd(name: RequestID.field, value: id)
    reply.answer(status, headers, body, in: batch, from: executor)
    note(Int(status.code))
  }

  /// Begins an answer in pieces.
  func begin(_ headers: NIOHTTP1.HTTPHeaders) {
    var headers = headers
    headers.replaceOrAdd(name: RequestID.field, value: id)
    reply.begin(.ok, headers)
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
    var headers: NIOHTTP1.HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
    trace?.failed(refusal.status, refusal.code)
    for (name, value) in refusal.headers { headers.replaceOrAdd(name: name, value: value) }
    account?.note(failure: refusal.code, plugin: nil)
    answer(
      HTTPResponseStatus(statusCode: refusal.status), headers,
      ByteBuffer(bytes: RefusalText.json(refusal.message, code: refusal.code)))
  }

  /// Answers that the operation failed.
  func fail(_ error: any Error, _ operation: DynamicOperation) {
    if error is CancellationError { return cancelled() }
    let failure = FailureAnswer(error)
    log(error, operation, failure)
    trace?.failed(failure.status, failure.code)
    var headers: NIOHTTP1.HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
    if let time = failure.retryAfter, Carabiner.HTTPHeaders.Field(name: "Retry-After", value: time).isWellFormed {
      headers.add(name: "Retry-After", value: time)
    }
    answer(
      HTTPResponseStatus(statusCode: failure.status), headers,
      ByteBuffer(bytes: failure.json))
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
