package import Carabiner
internal import CarabinerWire
package import Logging
internal import NIOCore
package import NIOHTTP1

/// Serves GraphQL over HTTP. Each operation runs through the current chain.
package final class OperationService: RequestHandler {
  /// Requests with a longer body are read on another thread than the connection's, since that takes milliseconds (`convention.3`).
  static let maximumInlineBytes = 64 << 10
  private static let healthPath = "/healthz"
  private static let readinessPath = "/readyz"

  /// The settings that hold for requests now.
  package let settings: CurrentSettings
  let runner: any OperationRunner
  /// The policy of the current generation.
  let policies: CurrentPolicy
  let gate: OperationGate
  private let admission: Admission
  let batch = ResponseBatcher()
  let metrics: GatewayMetrics
  /// The mutations that continue when their clients disconnect.
  package let keyedMutations = KeyedMutations()
  private let tracing: RequestTracing?
  let logger: Logger
  let accessLogger: Logger?
  let redact: @Sendable (String) -> String
  private let readiness: Readiness
  private let sockets: SocketService

  /// Creates a service at the paths of the settings.
  ///
  /// - Parameters:
  ///   - policies: The policy of the current generation.
  ///   - tracing: Decides which requests are traced; nil to trace none.
  ///   - accessLogger: Logs one line per request; nil to log none.
  ///   - readiness: The answer of `/readyz`.
  ///   - redact: Replaces secrets in a text.
  package init(
    settings: CurrentSettings, runner: any OperationRunner, policies: CurrentPolicy = CurrentPolicy(),
    metrics: GatewayMetrics, tracing: RequestTracing? = nil, logger: Logger, accessLogger: Logger? = nil,
    readiness: Readiness = Readiness(),
    redact: @escaping @Sendable (String) -> String = { $0 }
  ) {
    self.settings = settings
    self.runner = runner
    self.policies = policies
    self.metrics = metrics
    self.tracing = tracing
    self.logger = logger
    self.accessLogger = accessLogger
    self.redact = redact
    self.readiness = readiness
    admission = Admission(settings.limits)
    gate = OperationGate(metrics.operationRules, logger: logger)
    sockets = SocketService(
      settings: settings, runner: runner, policies: policies, gate: gate, admission: admission, metrics: metrics,
      tracing: tracing,
      logger: logger, redact: redact)
  }

  /// The numbers of operations in progress and in the queue.
  package var load: (running: Int, waiting: Int) { admission.load }

  /// Replaces the settings for requests that begin later.
  package func set(_ next: GatewaySettings) {
    settings.set(next)
    admission.set(next.limits)
  }

  /// The reasons why the gateway is not ready, one line each; empty if it is ready.
  package var readinessReasons: [String] {
    let isAlone = settings.value.isReadyWithUpstream && !runner.hasAvailableUpstream
    return readiness.reasons + (isAlone ? ["no endpoint of main is available"] : [])
  }

  package func handle(_ request: GatewayRequest, _ reply: GatewayReply) {
    let settings = settings.value
    guard let path = settings.path(of: request) else { return answerElsewhere(request, reply) }
    // Refusals use the format that the client accepts.
    let exchange = OperationExchange(
      self, request, reply, route: path, trace: tracing?.begin(request, route: path),
      shape: ResponseFormat(accept: request.header("accept")))
    if let crossOrigin = exchange.policy?.crossOrigin, CrossOriginRule.isPreflight(request.head) {
      return exchange.answer(preflight: crossOrigin)
    }
    if let page = settings.page, QueryPage.isMeant(by: request) { return exchange.answer(.ok, page.fields, page.body) }
    do throws(RequestRefusal) {
      // The rate limit is applied before the request is parsed, so that invalid requests count too.
      try charge(request, 1, settings)
      guard let shape = exchange.shape else {
        throw RequestRefusal(
          406, "accept application/json, application/graphql-response+json, or, for parts, multipart/mixed or text/event-stream",
          code: "NOT_ACCEPTABLE")
      }
      if let upload = request.upload { return try handleUpload(upload, shape, exchange, settings.limits) }
      if request.body.readableBytes <= Self.maximumInlineBytes { return try read(shape, exchange, settings) }
      exchange.reply.prepared(
        by: Task(executorPreference: globalConcurrentExecutor) { [self] in
          do throws(RequestRefusal) { try read(shape, exchange, settings) } catch { exchange.refuse(error) }
        })
    } catch {
      exchange.refuse(error)
    }
  }

  /// Reads the operations of a request and begins them.
  private func read(
    _ shape: ResponseFormat, _ exchange: OperationExchange, _ settings: GatewaySettings
  ) throws(RequestRefusal) {
    let request = exchange.request
    var inbound = try InboundOperations(
      request, accepting: shape, gate: gate, policy: exchange.policy, limits: settings.limits)
    exchange.account?.note(inbound)
    if let list = inbound.list {
      try charge(request, list.count - 1, settings)
    } else if inbound.operations[0].operationType == .subscription, shape.subscription == nil {
      throw RequestRefusal(
        406, "a subscription's results come as text/event-stream, or multipart/mixed;subscriptionSpec=1.0; accept one of them",
        code: "NOT_ACCEPTABLE")
    }
    try inbound.identify(request, settings)
    try admit(inbound, shape, exchange, settings.limits)
  }

  package func upgrade(_ request: GatewayRequest, _ reply: GatewayReply) -> SocketUpgrade? {
    let settings = settings.value
    guard settings.limits.takesWebSockets, let path = settings.path(of: request) else {
      handle(request, reply)
      return nil
    }
    do throws(RequestRefusal) {
      try charge(request, 1, settings)
      return try sockets.accept(request, at: path)
    } catch {
      OperationExchange(self, request, reply).refuse(error)
      return nil
    }
  }

  package func refusalFields(_ headers: Carabiner.HTTPHeaders) -> NIOHTTP1.HTTPHeaders {
    var fields: NIOHTTP1.HTTPHeaders = [:]
    policies.value?.crossOrigin?.fields(for: headers) { fields.add(name: $0, value: $1) }
    return fields
  }

  /// Applies the rate limit to a client.
  private func charge(
    _ request: GatewayRequest, _ operations: Int, _ settings: GatewaySettings
  ) throws(RequestRefusal) {
    do throws(RequestRefusal) {
      try settings.charge(operations, request.head.headers, request.client)
    } catch {
      if error.status == 429 { metrics.rateLimited() }
      throw error
    }
  }

  func admit(
    _ inbound: InboundOperations, _ shape: ResponseFormat, _ exchange: OperationExchange, _ limits: GatewayLimits
  ) throws(RequestRefusal) {
    let verdict = admission.enter(exchange.request.client) { [self] in
      exchange.reply.answered(
        by: Task(executorPreference: exchange.executor) { [self] in
          TaskMemory.reserve()
          await run(inbound, shape, exchange)
          admission.leave(exchange.request.client)
        })
    }
    switch verdict {
    case .begun, .waiting: break
    case .crowded: throw .overloaded(limits)
    case .clientLimitExceeded: throw .clientLimitExceeded(limits)
    }
  }

  private func run(
    _ inbound: InboundOperations, _ shape: ResponseFormat, _ exchange: OperationExchange
  ) async {
    if let list = inbound.list { return await runList(list, exchange) }
    let operation = inbound.operations[0]
    if let (rule, key) = inbound.idempotency { return await runOnce(operation, key, by: rule, shape, exchange) }
    do {
      let running = try begin(operation, exchange, exchange.trace, takesPassedBody: exchange.takesPassedBody(of: operation))
      let delivery = OperationDelivery(running: running, shape: shape, operation: operation, exchange: exchange)
      await delivery.deliver()
    } catch {
      exchange.fail(error, operation)
    }
  }

  func begin(
    _ operation: DynamicOperation, _ exchange: OperationExchange, _ trace: RequestTrace?, sending: SendingWatch? = nil,
    takesPassedBody: Bool = false
  ) throws -> RunningOperation {
    let running = try runner.begin(
      operation, headers: exchange.request.head.headers, requestID: exchange.id, client: exchange.request.client,
      path: exchange.route, forwarded: settings.value.forwardedFields(of: exchange.request), trace: trace,
      sending: sending, takesPassedBody: takesPassedBody)
    exchange.account?.note(generation: running.generation)
    return running
  }

  /// Returns the last result of an operation, and counts it.
  func wholeResult(
    of running: RunningOperation, _ operation: DynamicOperation
  ) async throws -> GraphQLResponse<DynamicOperation> {
    func ended(_ outcome: OperationOutcome) {
      metrics.ended(operation.operationType, outcome)
      running.ended(outcome)
    }
    do {
      let response = try await running.results.finalResult()
      metrics.countResponse(from: response.source)
      ended(response.hasErrors ? .hadErrors : .succeeded)
      return response
    } catch {
      ended(error is CancellationError ? .cancelled : .failed(status: FailureAnswer.status(of: error)))
      throw error
    }
  }

  /// Runs the entries of a list one after the other, so that it has no more than one upstream request at a time.
  private func runList(_ list: [InboundOperations.Entry], _ exchange: OperationExchange) async {
    var body = ByteBuffer(string: "[")
    for (index, entry) in list.enumerated() {
      if index > 0 { body.writeString(",") }
      do {
        body.writeBytes(try await result(of: entry, exchange))
      } catch {
        return exchange.cancelled()
      }
    }
    body.writeString("]")
    let compressed = exchange.isCompressedApart(body.readableBytes) ? await exchange.compressedApart(body) : nil
    exchange.answer(.ok, ["Content-Type": ResponseFormat.Whole.json.contentType], body, compressed: compressed)
  }

  /// The result of an entry of a list, as JSON text.
  private func result(
    of entry: InboundOperations.Entry, _ exchange: OperationExchange
  ) async throws(CancellationError) -> [UInt8] {
    let operation: DynamicOperation
    switch entry {
    case .success(let allowed): operation = allowed
    case .failure(let refusal):
      exchange.account?.note(failure: refusal.code, plugin: nil)
      return refusal.json
    }
    let trace = exchange.trace?.part(operation)
    defer { trace?.end() }
    do {
      return Array(try await wholeResult(of: begin(operation, exchange, trace), operation).body.bytes)
    } catch let error as CancellationError {
      throw error
    } catch {
      let failure = FailureAnswer(error, redact: redact)
      exchange.log(error, operation, failure)
      trace?.failed(failure.status, failure.code)
      return failure.json
    }
  }

  private func answerElsewhere(_ request: GatewayRequest, _ reply: GatewayReply) {
    let isHealthCheck = request.path == Self.healthPath || request.path == Self.readinessPath
    // Health checks are not logged: they would fill the log.
    let exchange = OperationExchange(self, request, reply, isLogged: !isHealthCheck, isNegotiated: false)
    guard isHealthCheck else {
      let paths = settings.value.paths.joined(separator: ", ")
      return exchange.refuse(RequestRefusal(404, "the GraphQL endpoint is \(paths)", code: "NOT_FOUND"))
    }
    guard request.head.method == .GET || request.head.method == .HEAD else {
      return exchange.refuse(
        RequestRefusal(405, "a health check needs GET or HEAD", code: "METHOD_NOT_ALLOWED", headers: ["Allow": "GET, HEAD"]))
    }
    let reasons = request.path == Self.readinessPath ? readinessReasons : []
    exchange.answer(
      reasons.isEmpty ? .ok : .serviceUnavailable, ["Content-Type": "text/plain", "Cache-Control": "no-store"],
      ByteBuffer(string: (reasons.isEmpty ? ["ok"] : reasons).map { "\($0)\n" }.joined()))
  }
}
