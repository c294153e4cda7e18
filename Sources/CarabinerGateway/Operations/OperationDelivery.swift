internal import Carabiner
internal import CarabinerWire
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// Brings the results of one operation to its client, whole or in pieces.
struct OperationDelivery {
  let running: RunningOperation
  let shape: ResponseShape
  let operation: DynamicOperation
  let exchange: OperationExchange

  typealias Response = GraphQLResponse<DynamicOperation>

  /// Answers, and returns when all is said.
  func deliver() async {
    do {
      if operation.operationType == .subscription, let pieces = shape.subscription {
        try await deliverPieces(pieces, first: nil)
      } else {
        switch try await running.results.pull() {
        case .last(let response): answer(response)
        case .element(let response):
          if response.hasNext, let pieces = shape.deferred {
            try await deliverPieces(pieces, first: response)
          } else {
            answer(try await running.results.finalResult(after: response))
          }
        case .end: throw RequestChainError(.noResults, "\(operation.operationName ?? "the operation") brought no result")
        }
      }
    } catch {
      exchange.fail(error, operation)
      ended(error is CancellationError ? .cancelled : .failed(status: FailureAnswer(error).status))
    }
  }

  private func ended(_ outcome: OperationOutcome) {
    exchange.metrics.ended(operation.operationType, outcome)
    running.ended(outcome)
  }

  // MARK: Whole

  private func answer(_ response: Response) {
    var headers: NIOHTTP1.HTTPHeaders = ["Content-Type": shape.whole.contentType]
    if let head = response.httpResponse { addReturned(head, to: &headers) }
    exchange.metrics.brought(response.source)
    exchange.answer(status(of: response), headers, ByteBuffer(bytes: response.body.bytes))
    ended(response.hasErrors ? .hadErrors : .succeeded)
  }

  /// Clients of old take any status but 200 for a proxy's; those that ask for the newer media type are told the upstream's.
  private func status(of response: Response) -> HTTPResponseStatus {
    guard shape.whole == .graphQLResponse else { return .ok }
    guard let status = response.httpResponse?.statusCode, status != 200 else {
      return response.body.hasData || !response.hasErrors ? .ok : .badRequest
    }
    return HTTPResponseStatus(statusCode: status)
  }

  private func addReturned(_ head: HTTPURLResponse, to headers: inout NIOHTTP1.HTTPHeaders) {
    if running.returnedHeaders.isEmpty { return }
    // What an upstream sends need not be what may be sent on.
    for field in head.headers.fields where running.returnedHeaders.passes(field.name) && field.isWellFormed {
      headers.add(name: field.name, value: field.value)
    }
  }

  // MARK: In pieces

  /// Sends results as they come. The head goes out with the first of them, so that what fails before it has a status of its own.
  private func deliverPieces(_ pieces: ResponseShape.Pieces, first: Response?) async throws {
    let writer = PieceWriter(pieces)
    var response = first
    var isFirst = true
    if response == nil {
      switch try await running.results.pull() {
      case .element(let next): response = next
      case .last(let last):
        try await begin(writer, last)
        try await send(last, writer, isFirst: true, isLast: true)
        return end(writer, after: last)
      case .end: throw RequestChainError(.noResults, "the subscription brought no result")
      }
    }
    guard var current = response else { return }
    try await begin(writer, current)
    do {
      while true {
        try await send(current, writer, isFirst: isFirst, isLast: false)
        isFirst = false
        switch try await running.results.pull() {
        case .element(let next): current = next
        case .last(let last):
          try await send(last, writer, isFirst: false, isLast: true)
          return end(writer, after: last)
        case .end: return end(writer, after: current)
        }
      }
    } catch {
      await breakOff(writer, error)
    }
  }

  private func begin(_ writer: PieceWriter, _ response: Response) async throws {
    var headers: NIOHTTP1.HTTPHeaders = ["Content-Type": writer.contentType, "Cache-Control": "no-cache"]
    if let head = response.httpResponse { addReturned(head, to: &headers) }
    exchange.begin(headers)
    if !writer.opening.isEmpty { try await exchange.reply.send(ByteBuffer(bytes: writer.opening)) }
  }

  private func send(_ response: Response, _ writer: PieceWriter, isFirst: Bool, isLast: Bool) async throws {
    exchange.metrics.brought(response.source)
    try await exchange.reply.send(ByteBuffer(bytes: writer.piece(response, isFirst: isFirst, isLast: isLast)))
    try Task.checkCancellation()
  }

  private func end(_ writer: PieceWriter, after response: Response) {
    exchange.reply.endWith(ByteBuffer(bytes: writer.closing))
    exchange.note(200)
    ended(response.hasErrors ? .hadErrors : .succeeded)
  }

  /// The head is out: what went wrong can only be said in a last piece.
  private func breakOff(_ writer: PieceWriter, _ error: any Error) async {
    guard !(error is CancellationError), !Task.isCancelled else {
      exchange.cancelled()
      return ended(.cancelled)
    }
    let failure = FailureAnswer(error)
    exchange.log(error, operation, failure)
    exchange.trace?.failed(failure.status, failure.code)
    exchange.reply.endWith(
      ByteBuffer(bytes: writer.failure(failure.json) + writer.closing))
    exchange.note(200)
    ended(.failed(status: failure.status))
  }
}

extension ResponseShape.Whole {
  /// The media type with its parameters.
  var contentType: String {
    switch self {
    case .json: "application/json; charset=utf-8"
    case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
    }
  }
}
