internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// Sends the results of one operation to its client, as one body or in pieces.
struct OperationDelivery {
  let running: RunningOperation
  let shape: ResponseFormat
  let operation: DynamicOperation
  let exchange: OperationExchange

  typealias Response = GraphQLResponse<DynamicOperation>

  /// Sends the response, and returns when it is complete.
  func deliver() async {
    if operation.operationType == .subscription, let pieces = shape.subscription {
      exchange.reply.beginEndless()
      defer { exchange.reply.endEndless() }
      return await deliverPieces(pieces, first: nil)
    }
    do {
      switch try await running.results.pull() {
      case .last(let response):
        await deliver(whole: response)
      case .element(let response):
        if response.hasNext, let pieces = shape.deferred {
          await deliverPieces(pieces, first: response)
        } else {
          await deliver(whole: try await running.results.finalResult(after: response))
        }
      case .end: throw RequestChainError(.noResults, "\(operation.operationName ?? "the operation") returned no result")
      }
    } catch {
      exchange.fail(error, operation)
      ended(error is CancellationError ? .cancelled : .failed(status: FailureAnswer.status(of: error)))
    }
  }

  func ended(_ outcome: OperationOutcome) {
    exchange.metrics.ended(operation.operationType, outcome)
    running.ended(outcome)
  }

  // MARK: Whole

  /// The number of fields that are added to those of the upstream.
  private static let furtherFields = 6
  /// The approximate size of these fields, in bytes.
  private static let furtherBytes = 256

  private func deliver(whole response: Response) async {
    if let body = response.passedBody { return await pass(body, fields(of: response)) }
    answer(response, exchange.isCompressedApart(response.body.bytes.count) ? await compressed(response) : nil)
  }

  /// The body in a content coding, for a response that is compressed on another thread.
  private func compressed(_ response: Response) async -> CompressedBody? {
    await exchange.compressedApart(ByteBuffer(bytes: response.body.bytes))
  }

  /// The fields of a single result, which is counted.
  private func fields(of response: Response) -> ReplyFields {
    var fields: ReplyFields = ["Content-Type": shape.whole.contentType]
    if let head = response.httpResponse { addReturned(head, to: &fields) }
    exchange.metrics.countResponse(from: response.source)
    return fields
  }

  private func answer(_ response: Response, _ compressed: CompressedBody?) {
    let fields = fields(of: response)
    if shape.takesOnlyEvents {
      exchange.answer(.ok, fields, event: response.body.bytes)
    } else {
      exchange.answer(shape.whole.status(of: response), fields, ByteBuffer(bytes: response.body.bytes), compressed: compressed)
    }
    ended(response.hasErrors ? .hadErrors : .succeeded)
  }

  private func addReturned(_ head: HTTPURLResponse, to fields: inout ReplyFields) {
    if running.returnedHeaders.isEmpty { return }
    let headers = head.headers
    fields.reserve(headers.count + Self.furtherFields, bytes: headers.byteCount + Self.furtherBytes)
    headers.forEach(passedBy: running.returnedHeaders) { index in
      let bytes = headers.bytes.span
      let (name, value) = (bytes.extracting(headers.nameRange(at: index)), bytes.extracting(headers.valueRange(at: index)))
      // A field from the upstream may be malformed.
      if name.isToken, value.isPlainValue { fields.add(name, value) }
    }
  }

  // MARK: In pieces

  /// Sends results as they arrive.
  ///
  /// - Parameter first: The first result of a deferred response; nil for a subscription. The head of a subscription is sent at
  ///   once: the first result may take hours, and clients and proxies time out without a head.
  private func deliverPieces(_ pieces: ResponseFormat.Pieces, first: Response?) async {
    var writer = PieceWriter(pieces, isDeferred: first != nil)
    var fields: ReplyFields = ["Content-Type": writer.contentType, "Cache-Control": "no-cache"]
    if let head = first?.httpResponse { addReturned(head, to: &fields) }
    exchange.begin(fields, opening: writer.opening, heartbeat: writer.heartbeat)
    do {
      var hadErrors = false
      if let first { hadErrors = try await send(first, &writer, isLast: false) }
      while true {
        switch try await running.results.pull() {
        case .element(let next):
          hadErrors = try await send(next, &writer, isLast: false)
          if let results = next.passedResults { try await pass(results, writer, &hadErrors) }
        case .last(let next):
          hadErrors = try await send(next, &writer, isLast: true)
          return end(&writer, hadErrors: hadErrors)
        case .end:
          // A stage may end its results when it is cancelled.
          try Task.checkCancellation()
          return end(&writer, hadErrors: hadErrors)
        }
      }
    } catch {
      breakOff(writer, error)
    }
  }

  /// - Returns: Whether the result has errors.
  private func send(_ response: Response, _ writer: inout PieceWriter, isLast: Bool) async throws -> Bool {
    exchange.metrics.countResponse(from: response.source)
    try await exchange.reply.send(writer.piece(response, isLast: isLast))
    try Task.checkCancellation()
    return response.hasErrors
  }

  /// Sends the results of a subscription that no stage reads.
  private func pass(_ results: StreamedResults, _ writer: PieceWriter, _ hadErrors: inout Bool) async throws {
    while let next = await results.nextPassed() {
      exchange.metrics.countResponse(from: .server)
      hadErrors = next.body.hasErrors
      try await exchange.reply.send(writer.piece(next.body))
      try Task.checkCancellation()
    }
  }

  /// - Parameter hadErrors: Whether the last result has errors.
  private func end(_ writer: inout PieceWriter, hadErrors: Bool) {
    exchange.reply.endWith(ByteBuffer(bytes: writer.ending() + writer.closing))
    exchange.note(200)
    ended(hadErrors ? .hadErrors : .succeeded)
  }

  /// Sends an error as the last piece, because the head has already been sent.
  private func breakOff(_ writer: PieceWriter, _ error: any Error) {
    guard !exchange.reply.isDrained else { return endWithServer(writer) }
    guard !(error is CancellationError), !Task.isCancelled else {
      exchange.cancelled()
      return ended(.cancelled)
    }
    let failure = FailureAnswer(error, redact: exchange.service.redact)
    exchange.log(error, operation, failure)
    exchange.trace?.failed(failure.status, failure.code)
    end(writer, with: failure.json)
    ended(.failed(status: failure.status))
  }

  /// Sends the reason as the last piece when the server shuts down, so that the client connects again.
  private func endWithServer(_ writer: PieceWriter) {
    let refusal = RequestRefusal.shuttingDown
    exchange.account?.note(failure: refusal.code, plugin: nil)
    end(writer, with: RefusalText.json(refusal.message, code: refusal.code))
    ended(.cancelled)
  }

  private func end(_ writer: PieceWriter, with errors: [UInt8]) {
    exchange.reply.endWith(ByteBuffer(bytes: writer.failure(errors) + writer.closing))
    exchange.note(200)
  }
}

extension ResponseFormat.Whole {
  /// Clients of `application/json` treat a status other than 200 as a proxy error, so they always get 200. Clients of
  /// `application/graphql-response+json` get the upstream's status; a result with data requires a 2xx status. Without an upstream
  /// status, an executed operation gets 200 (GraphQL over HTTP, 6.4.2).
  func status(of response: GraphQLResponse<DynamicOperation>) -> HTTPResponseStatus {
    guard self == .graphQLResponse else { return .ok }
    let status = response.httpResponse.map { HTTPResponseStatus(statusCode: $0.statusCode) } ?? .ok
    // A stage may have set any number, and the response to an operation needs a body.
    let isUsable = status != .ok && status.isFinal && status.hasBody
    if response.body.hasData { return isUsable && status.code < 300 ? status : .ok }
    guard isUsable else { return response.body.data == nil && response.hasErrors ? .badRequest : .ok }
    return status
  }

  /// The media type with its parameters.
  var contentType: String {
    switch self {
    case .json: "application/json; charset=utf-8"
    case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
    }
  }
}
