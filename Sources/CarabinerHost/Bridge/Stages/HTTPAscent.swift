internal import CCarabiner
internal import Carabiner
internal import FoundationEssentials

/// One pass of an HTTP exchange through a run of stages.
final class HTTPAscent: @unchecked Sendable {
  // Used by the request's task alone, first on the way down and then by the one consumer of the chunks.

  let message: HTTPMessage
  private let lane: PluginLane
  private let pass: LanePass
  private var depth: Int
  private var chunks: PullStream<Data> = .empty
  private var ready: [Data] = []
  private var isOver = false
  private var sequence: UInt64 = 0

  init(pass: consuming LanePass, message: HTTPMessage) {
    lane = pass.lane
    self.pass = pass
    self.message = message
    depth = lane.row.stages.count
    lane.record.message = .http(message)
  }

  /// Runs `on_request` of every stage.
  ///
  /// - Returns: The response of a stage that answered itself; nil if the network is to be asked.
  func descend() async throws -> HTTPResponse? {
    let record = lane.record
    defer { record.endStep() }
    for index in lane.row.http.indices {
      guard let onRequest = unsafe lane.row.http[index].on_request else { continue }
      depth = index
      let made = lane.invoke(.onRequest, at: index) { unsafe onRequest(lane.instance(index), record.handle, lane.states + index) }
      if made.hasPassed {
        lane.open(index)
        continue
      }
      let (verdict, answer) = try await lane.outcome(of: made, .down)
      switch verdict {
      case Verdict.respond:
        guard let head = answer.head else { continue }
        return HTTPResponse(response: head, chunks: PullStream(elements: answer.elements.map(\.bytes)))
      case Verdict.retry: try await retry(answer, at: index, .onRequest)
      case Verdict.fail: throw lane.failure(answer, .onRequest, at: index)
      default:
        message.apply(answer)
        lane.open(index)
      }
    }
    depth = lane.row.stages.count
    return nil
  }

  /// Takes a response's head outward and lets the chunks follow.
  func ascend(_ response: HTTPResponse) async throws -> HTTPResponse {
    message.response = response.response
    chunks = response.chunks
    let record = lane.record
    defer { record.endStep() }
    for index in (0..<depth).reversed() {
      guard let onHead = unsafe lane.row.http[index].on_head else { continue }
      // A stage further in may have changed the head.
      record.endStep()
      var event = unsafe record.view(ofHead: message.response ?? response.response, for: lane.row.stages[index])
      let made = lane.invoke(.onHead, at: index) {
        unsafe onHead(lane.instance(index), record.handle, lane.states[index], &event)
      }
      if made.hasPassed { continue }
      let (verdict, answer) = try await failing(at: index) { try await lane.outcome(of: made, .up) }
      switch verdict {
      case Verdict.retry: try await retry(answer, at: index, .onHead)
      case Verdict.fail: throw StageFailure(error: lane.failure(answer, .onHead, at: index), depth: index)
      default:
        if let head = answer.head { message.response = head }
        if let headers = answer.headers { message.response?.headers = headers }
      }
    }
    let head = message.response ?? response.response
    guard (0..<depth).contains(where: { lane.isOpen($0) }) else { return HTTPResponse(response: head, chunks: chunks) }
    return HTTPResponse(response: head, chunks: PullStream { try await self.handlingErrors { try await self.nextChunk() } })
  }

  private func nextChunk() async throws -> PullStream<Data>.Step {
    while ready.isEmpty, !isOver {
      switch try await chunks.pull() {
      case .element(let chunk):
        if try await ascend(chunk, from: depth - 1) { try await finish() }
      case .last(let chunk):
        _ = try await ascend(chunk, from: depth - 1)
        try await finish()
      case .end:
        try await finish()
      }
    }
    guard !ready.isEmpty else { return .end }
    let chunk = ready.removeFirst()
    return isOver && ready.isEmpty ? .last(chunk) : .element(chunk)
  }

  /// Takes a chunk outward; true if a stage ended the body with it.
  private func ascend(_ chunk: Data, from outermost: Int) async throws -> Bool {
    let record = lane.record
    record.endStep()
    defer { record.endStep() }
    var event = unsafe record.view(ofChunk: chunk, sequence: sequence)
    var index = outermost
    while index >= 0 {
      let stage = index
      index -= 1
      guard let onChunk = unsafe lane.row.http[stage].on_chunk else { continue }
      let made = lane.invoke(.onChunk, at: stage) {
        unsafe onChunk(lane.instance(stage), record.handle, lane.states[stage], &event)
      }
      if made.hasPassed { continue }
      let (verdict, answer) = try await failing(at: stage) { try await lane.outcome(of: made, .up) }
      switch verdict {
      case Verdict.drop: return false
      case Verdict.fail: throw StageFailure(error: lane.failure(answer, .onChunk, at: stage), depth: stage)
      default: break
      }
      let isFinished = verdict == Verdict.finish
      guard answer.elements.isEmpty, !isFinished else {
        var wasEnded = false
        for piece in answer.elements.isEmpty ? [chunk] : answer.elements.map(\.bytes) where !wasEnded {
          wasEnded = try await ascend(piece, from: stage - 1)
        }
        return isFinished || wasEnded
      }
    }
    sequence += 1
    ready.append(chunk)
    return false
  }

  private func finish() async throws {
    isOver = true
    chunks = .empty
    defer { lane.record.endStep() }
    for stage in (0..<depth).reversed() where lane.isOpen(stage) {
      let answer = try await failing(at: stage) { try await lane.end(stage) }
      for element in answer.elements { _ = try await ascend(element.bytes, from: stage - 1) }
    }
  }

  // MARK: Errors

  /// Tells the stages further out about an error on its way to the chain.
  func handlingErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch {
      isOver = true
      throw try await outward(error)
    }
  }

  private func outward(_ thrown: any Error) async throws -> any Error {
    var error = (thrown as? StageFailure)?.error ?? thrown
    let outermost = (thrown as? StageFailure)?.depth ?? depth
    for stage in lane.row.tails.indices where stage >= outermost && lane.isOpen(stage) { lane.close(stage) }
    if error is HTTPRetry { return error }
    if error.isChainControl {
      lane.cancelOpenStages()
      return error
    }
    for stage in (0..<outermost).reversed() where lane.isOpen(stage) {
      do {
        guard let (verdict, answer) = try await lane.tell(error, stage) else { continue }
        switch verdict {
        case Verdict.retry: try await retry(answer, at: stage, .onError)
        case Verdict.fail: if let staged = answer.error { error = staged }
        default: break
        }
      } catch let retry as HTTPRetry {
        return retry
      } catch let cancelled as CancellationError {
        lane.cancelOpenStages()
        return cancelled
      } catch let later {
        error = later
      }
    }
    return error
  }

  private func retry(_ answer: StagedAnswer, at index: Int, _ hook: Hook) async throws {
    let retry = RetryRequest(lane, answer, at: index, hook)
    guard retry.isPossible else { return }
    try await retry.allow()
    throw HTTPRetry()
  }

  private func failing<Value>(at index: Int, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error where !(error is StageFailure) && !error.isChainControl {
      throw StageFailure(error: error, depth: index)
    }
  }
}
