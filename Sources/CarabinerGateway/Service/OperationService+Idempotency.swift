internal import Carabiner
internal import CarabinerRedis
internal import CarabinerWire
internal import NIOCore
internal import NIOHTTP1

extension OperationService {
  private static let replayField = "Idempotency-Replayed"

  /// How a mutation with a key ended.
  private enum Ending: Sendable {
    case answer(StoredAnswer, isReplayed: Bool)
    case refusal(RequestRefusal)
    case failure(any Error)
  }

  /// Runs a mutation with a key, or repeats its answer.
  ///
  /// The mutation continues if the client disconnects, because the client's next attempt asks for the answer.
  func runOnce(
    _ operation: DynamicOperation, _ key: IdempotencyKey, by rule: IdempotencyRule, _ shape: ResponseFormat,
    _ exchange: OperationExchange
  ) async {
    let ending = await keyedMutations.run(on: exchange.executor) { [self] in await end(of: operation, key, rule, exchange) }
    guard !Task.isCancelled else {
      if case .failure(let error) = ending { exchange.log(error, operation, FailureAnswer(error, redact: redact)) }
      return exchange.cancelled()
    }
    switch ending {
    case .answer(let answer, let isReplayed): await send(answer, isReplayed: isReplayed, shape, exchange)
    case .refusal(let refusal): exchange.refuse(refusal)
    case .failure(let error): exchange.fail(error, operation)
    }
  }

  private func end(
    of operation: DynamicOperation, _ key: IdempotencyKey, _ rule: IdempotencyRule, _ exchange: OperationExchange
  ) async -> Ending {
    let lease: MutationLease?
    switch await rule.claim(key, metrics.idempotency) {
    case .replay(let answer): return .answer(answer, isReplayed: true)
    case .refuse(let refusal): return .refusal(refusal)
    case .run(let claimed): lease = claimed
    }
    let watch = SendingWatch()
    do {
      let answer = try await answer(to: operation, watch, exchange)
      if let lease { await rule.end(lease, with: answer) }
      return .answer(answer, isReplayed: false)
    } catch {
      if watch.mayHaveBeenSent { await lease?.end(with: nil) } else { await lease?.release() }
      return .failure(error)
    }
  }

  /// Runs the mutation. Its answer is one body and not several parts, because only one body can be repeated.
  private func answer(
    to operation: DynamicOperation, _ watch: SendingWatch, _ exchange: OperationExchange
  ) async throws -> StoredAnswer {
    let running = try begin(operation, exchange, exchange.trace, sending: watch)
    return StoredAnswer(try await wholeResult(of: running, operation), returning: running.returnedHeaders)
  }

  private func send(
    _ answer: StoredAnswer, isReplayed: Bool, _ shape: ResponseFormat, _ exchange: OperationExchange
  ) async {
    var fields: ReplyFields = ["Content-Type": shape.whole.contentType]
    // A stored record must not set fields that control the connection.
    for field in answer.fields where !HeaderSelection.neverPassed.contains(field[0].lowercased()) {
      fields.add(field[0], field[1])
    }
    if isReplayed { fields.set(Self.replayField, "true") }
    guard !shape.takesOnlyEvents else { return exchange.answer(.ok, fields, event: answer.body) }
    let body = ByteBuffer(bytes: answer.body)
    let compressed = exchange.isCompressedApart(answer.body.count) ? await exchange.compressedApart(body) : nil
    exchange.answer(
      HTTPResponseStatus(statusCode: shape.whole == .graphQLResponse ? answer.status : 200), fields, body, compressed: compressed)
  }
}

extension StoredAnswer {
  /// The answer for a result, with the header fields that the client gets.
  fileprivate init(_ response: GraphQLResponse<DynamicOperation>, returning returned: HeaderSelection) {
    var fields: [[String]] = []
    if let headers = response.httpResponse?.headers {
      headers.forEach(passedBy: returned) { index in
        let field = headers[index]
        if field.isWellFormed { fields.append([field.name, field.value]) }
      }
    }
    self.init(
      status: Int(ResponseFormat.Whole.graphQLResponse.status(of: response).code), fields: fields,
      body: Array(response.body.bytes))
  }
}
