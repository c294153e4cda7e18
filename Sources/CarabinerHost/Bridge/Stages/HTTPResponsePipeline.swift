internal import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// One pass of an HTTP exchange through a run of stages.
final class HTTPResponsePipeline: @unchecked Sendable {
  // Used by the request's task alone, first on the way down and then by the one consumer of the chunks.

  let message: HTTPMessage
  private let lane: PluginCallState
  private let pass: CallLease
  private var depth: Int
  // One user at a time, as said above, so nothing is gained by having the runtime check each access.
  /// The rest of the body; nil once it is over.
  @safe @exclusivity(unchecked) private var chunks: PullStream<Data>?
  @safe @exclusivity(unchecked) private var ready = PendingElements<Data>()
  private var sequence: UInt64 = 0

  init(pass: consuming CallLease, message: HTTPMessage) {
    lane = pass.lane
    self.pass = pass
    self.message = message
    depth = lane.row.count
    lane.record.message = .http(message)
  }

  /// Runs `on_request` of every stage.
  ///
  /// - Returns: The response of a stage that answered itself; nil if the network is to be asked.
  func descend() async throws -> HTTPResponse? {
    let record = lane.record
    defer { record.endStep() }
    var next = 0
    depth = 0
    while let made = lane.descend(from: next) {
      let index = made.index
      next = index + 1
      depth = index
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
    depth = lane.row.count
    return nil
  }

  /// Takes a response's head outward and lets the chunks follow.
  func ascend(_ response: HTTPResponse) async throws -> HTTPResponse {
    message.response = response.response
    chunks = response.chunks
    let record = lane.record
    defer { record.endStep() }
    var next = lane.row.seesHeads ? depth - 1 : -1
    while next >= 0 {
      // Once for all stages; anew only after one has changed the head.
      let head = unsafe record.keep(record.view(ofHead: message.response ?? response.response, lane.row.shown))
      guard let made = unsafe lane.ascend(UnsafePointer(head), from: next) else { break }
      let index = made.index
      next = index - 1
      let (verdict, answer) = try await failing(at: index) { try await lane.outcome(of: made, .up) }
      switch verdict {
      case Verdict.retry: try await retry(answer, at: index, .onHead)
      case Verdict.fail: throw StageFailure(error: lane.failure(answer, .onHead, at: index), depth: index)
      default:
        if let head = answer.head { message.response = head }
        message.response?.headers.apply(answer)
        record.endStep()
      }
    }
    let head = message.response ?? response.response
    guard (0..<depth).contains(where: { lane.isOpen($0) }) else { return HTTPResponse(response: head, chunks: response.chunks) }
    return HTTPResponse(response: head, chunks: PullStream { try await self.handlingErrors { try await self.nextChunk() } })
  }

  private func nextChunk() async throws -> PullStream<Data>.Step {
    while ready.isEmpty, chunks != nil {
      switch try await chunks?.pull() ?? .end {
      case .element(let chunk):
        guard try await ascend(chunk, from: depth - 1) else { continue }
      case .last(let chunk):
        _ = try await ascend(chunk, from: depth - 1)
      case .end: break
      }
      chunks = nil
      if let stage = lane.closeSilently(from: depth - 1) { try await finish(from: stage) }
    }
    guard let chunk = ready.popFirst() else { return .end }
    return chunks == nil && ready.isEmpty ? .last(chunk) : .element(chunk)
  }

  /// Takes a chunk outward; true if a stage ended the body with it.
  private func ascend(_ chunk: Data, from outermost: Int) async throws -> Bool {
    let record = lane.record
    record.endStep()
    defer { record.endStep() }
    let event = unsafe UnsafePointer(record.keep(record.view(ofChunk: chunk, sequence: sequence)))
    var next = outermost
    while let made = unsafe lane.ascend(event, from: next) {
      let stage = made.index
      next = stage - 1
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

  /// The body is over: every stage that is still open learns it, from number `outermost` outward.
  private func finish(from outermost: Int) async throws {
    defer { lane.record.endStep() }
    var last = outermost
    while let stage = lane.closeSilently(from: last) {
      last = stage - 1
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
      chunks = nil
      throw try await outward(error)
    }
  }

  private func outward(_ thrown: any Error) async throws -> any Error {
    var error = (thrown as? StageFailure)?.error ?? thrown
    let outermost = (thrown as? StageFailure)?.depth ?? depth
    for stage in stride(from: outermost, to: lane.row.count, by: 1) { lane.close(stage) }
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

  private func retry(_ answer: StagedEffects, at index: Int, _ hook: Hook) async throws {
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
