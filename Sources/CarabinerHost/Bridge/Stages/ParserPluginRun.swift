internal import CCarabiner
@_spi(InterceptorHints) internal import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The parsers of a manifest, asked in order: the first that takes the response parses it.
struct ParserPluginRun: ResponseParsingInterceptor {
  /// A place in the list.
  enum Entry: Sendable {
    /// A plugin, by its number in the row.
    case plugin(Int)
    case json(JSONResponseParsingInterceptor)
  }

  private let entries: [Entry]
  private let lanes: CallStatePool
  let acceptedMediaTypes: AcceptedMediaTypes?

  init(_ entries: [Entry], _ row: PluginStageGroup, accepting types: AcceptedMediaTypes?, call: PluginCall) {
    self.entries = entries
    acceptedMediaTypes = types
    lanes = CallStatePool(row, call: call)
  }

  var stageName: String { "parsers" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  /// What the parsers of a list read beside JSON: those before the built-in parser in front, the others behind.
  static func acceptedMediaTypes(of entries: [Entry], _ row: PluginStageGroup) -> AcceptedMediaTypes? {
    var types = AcceptedMediaTypes()
    var isBehindJSON = false
    for entry in entries {
      switch entry {
      case .json: isBehindJSON = true
      case .plugin(let index):
        guard let accept = row.stages[index].plugin.accept else { continue }
        if isBehindJSON { types.further.append(accept) } else { types.preferred.append(accept) }
      }
    }
    return types.isEmpty ? nil : types
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let pass = try lanes.beginPass(timeout: request.requestTimeout)
    let lane = pass.lane
    let record = lane.record
    let message = HTTPMessage(request: URLRequest(url: response.response.url))
    message.response = response.response
    record.message = .http(message)
    defer { record.endStep() }
    for entry in entries {
      switch entry {
      case .json(let parser):
        lanes.call.context.tracer?.record(
          StageEvent(kind: .parsing, stage: "json", hook: "parse", direction: .up, outcome: "taken", duration: .zero))
        return try await parser.parse(response: response, for: request, includeCacheRecords: includeCacheRecords)
      case .plugin(let index):
        guard let onHead = unsafe lane.row.stages[index].plugin.table.parser?.on_head else { continue }
        record.endStep()
        let event = unsafe record.keep(record.view(ofHead: response.response, lane.row.shownTo[index]))
        let made = lane.invoke(.onHead, at: index) {
          unsafe onHead(lane.instance(index), record.handle, lane.states + index, event)
        }
        let (verdict, answer) =
          made.hasPassed ? (Verdict.continue, StagedEffects()) : try await lane.outcome(of: made, .up)
        switch verdict {
        case Verdict.drop: continue
        case Verdict.fail: throw lane.failure(answer, .onHead, at: index)
        default:
          lane.open(index)
          let parsing = PluginParsing(
            pass: pass, position: index, response: response, request: request, includesRecords: includeCacheRecords)
          try parsing.take(answer)
          return PullStream { try await parsing.next() }
        }
      }
    }
    throw ResponseParsingError(
      .unsupportedContentType,
      "no parser of the manifest takes \(response.response.headers["Content-Type"] ?? "a response without Content-Type"); add one, "
        + "or put json at the end of the parsing list")
  }
}

/// A parser plugin at work on one response.
final class PluginParsing<Request: GraphQLRequest>: @unchecked Sendable {
  // Pulled by one consumer at a time, as every stream of the chain is.

  typealias Result = ParsedResult<Request.Operation>

  private let lane: PluginCallState
  private let pass: CallLease
  private let position: Int
  private let response: HTTPResponse
  private let request: Request
  private let includesRecords: Bool
  private var ready = PendingElements<Result>()
  private var isOver = false
  private var sequence: UInt64 = 0

  init(pass: consuming CallLease, position: Int, response: HTTPResponse, request: Request, includesRecords: Bool) {
    lane = pass.lane
    self.pass = pass
    self.position = position
    self.response = response
    self.request = request
    self.includesRecords = includesRecords
  }

  func next() async throws -> PullStream<Result>.Step {
    do {
      while ready.isEmpty, !isOver { try await pullOnce() }
    } catch {
      isOver = true
      if error.isChainControl { lane.cancelOpenStages() } else { lane.close(position) }
      throw error
    }
    guard let result = ready.popFirst() else { return .end }
    return isOver && ready.isEmpty ? .last(result) : .element(result)
  }

  private func pullOnce() async throws {
    switch try await response.chunks.pull() {
    case .element(let chunk):
      if try await parse(chunk) { try await finish() }
    case .last(let chunk):
      _ = try await parse(chunk)
      try await finish()
    case .end:
      try await finish()
    }
  }

  /// Hands a chunk to the plugin; true if it wants no more.
  private func parse(_ chunk: Data) async throws -> Bool {
    let record = lane.record
    guard let onChunk = unsafe lane.row.onChunk[position] else { return false }
    record.endStep()
    defer { record.endStep() }
    let event = unsafe record.keep(record.view(ofChunk: chunk, sequence: sequence))
    sequence += 1
    let made = lane.invoke(.onChunk, at: position) {
      unsafe onChunk(lane.instance(position), record.handle, lane.states[position], event)
    }
    if made.hasPassed { return false }
    let (verdict, answer) = try await lane.outcome(of: made, .up)
    guard verdict != Verdict.fail else { throw parsingError(lane.failure(answer, .onChunk, at: position)) }
    try take(answer)
    return verdict == Verdict.finish
  }

  private func finish() async throws {
    isOver = true
    defer { lane.record.endStep() }
    do {
      try take(try await lane.end(position))
    } catch let error as PluginError where error.code == .failed {
      throw parsingError(error)
    }
  }

  fileprivate func take(_ answer: StagedEffects) throws {
    for element in answer.elements {
      let body = try ResponseBody(element.bytes)
      var parsed = GraphQLResponse<Request.Operation>(body: body, source: .server, httpResponse: response.response)
      parsed.delivery = ResultDelivery(flags: element.flags)
      ready.append(
        Result(
          result: parsed,
          cacheRecords: includesRecords ? ApolloStore.records(of: body, to: request) : nil))
    }
  }

  /// What a parser fails with is that the response cannot be parsed.
  private func parsingError(_ error: PluginError) -> ResponseParsingError {
    ResponseParsingError(.other, "\(error.entry) cannot parse the response: \(error.message)", cause: error)
  }
}
