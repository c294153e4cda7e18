internal import CCarabiner
@_spi(InterceptorHints) package import Carabiner
internal import CarabinerABI
internal import FoundationEssentials

/// The parsers of a manifest, tried in order. The first that takes the response parses it.
package struct ParserPluginRun: ResponseParsingInterceptor {
  /// One place in the list.
  package enum Entry: Sendable {
    /// A plugin, by its number in the group.
    case plugin(Int)
    case json(JSONResponseParsingInterceptor)
  }

  private let entries: [Entry]
  private let group: PluginStageGroup
  private let call: PluginCall
  package let acceptedMediaTypes: AcceptedMediaTypes?

  package init(_ entries: [Entry], _ group: PluginStageGroup, accepting types: AcceptedMediaTypes?, call: PluginCall) {
    self.entries = entries
    self.group = group
    self.call = call
    acceptedMediaTypes = types
  }

  package var stageName: String { "parsers" }
  package var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  /// The media types that the parsers of a list read in addition to JSON. Types of parsers before the built-in parser come first.
  package static func acceptedMediaTypes(of entries: [Entry], _ group: PluginStageGroup) -> AcceptedMediaTypes? {
    var types = AcceptedMediaTypes()
    var isBehindJSON = false
    for entry in entries {
      switch entry {
      case .json: isBehindJSON = true
      case .plugin(let index):
        guard let accept = group.stages[index].plugin.accept else { continue }
        if isBehindJSON { types.further.append(accept) } else { types.preferred.append(accept) }
      }
    }
    return types.isEmpty ? nil : types
  }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  package func parse<Request: GraphQLRequest>(
    response: HTTPResponse, for request: Request, includeCacheRecords: Bool
  ) async throws -> InterceptorResultStream<Request> {
    let parsing = try PluginParsing(
      response, for: request, through: group, call, includesRecords: includeCacheRecords)
    for entry in entries {
      switch entry {
      case .json(let parser):
        call.context.tracer?.record(
          StageEvent(kind: .parsing, stage: "json", hook: "parse", direction: .up, outcome: "taken", duration: .zero))
        return try await parser.parse(response: response, for: request, includeCacheRecords: includeCacheRecords)
      case .plugin(let index):
        if try await parsing.begin(at: index) { return PullStream { try await parsing.next() } }
      }
    }
    throw ResponseParsingError(
      .unsupportedContentType,
      "no parser of the manifest takes \(response.response.headers["Content-Type"] ?? "a response without Content-Type"); add one, "
        + "or put json at the end of the parsing list")
  }
}

/// The pass of one response through a parser plugin.
final class PluginParsing<Request: GraphQLRequest>: PluginPass<HTTPMessage>, @unchecked Sendable {
  typealias Result = ParsedResult<Request.Operation>

  private let response: HTTPResponse
  private let request: Request
  private let includesRecords: Bool
  /// The stage that parses the response.
  private var position = 0
  private var ready = PendingElements<Result>()
  private var isOver = false
  private var sequence: UInt64 = 0

  init(
    _ response: HTTPResponse, for request: Request, through group: PluginStageGroup, _ shared: PluginCall, includesRecords: Bool
  ) throws {
    self.response = response
    self.request = request
    self.includesRecords = includesRecords
    try super.init(
      HTTPMessage(request: URLRequest(url: response.response.url), response: response.response), through: group, shared,
      timeout: request.requestTimeout)
  }

  /// Offers the response to the parser at a place in the group.
  ///
  /// - Returns: Whether it parses the response.
  func begin(at index: Int) async throws -> Bool {
    guard let onHead = unsafe call.stages.plugin(index).table.parser?.on_head else { return false }
    call.beginStep(self)
    defer { call.endStep() }
    let event = unsafe try call.keep(call.view(ofHead: response.response, call.stages.group.shownTo[index]))
    let made = call.invoke(.onHead, at: index) {
      unsafe onHead(call.stages.instance(index), call.handle, call.stages.states + index, event)
    }
    let (verdict, effects) = made.hasPassed ? (Verdict.continue, StagedEffects()) : try await call.outcome(of: made, .up)
    switch verdict {
    case Verdict.drop: return false
    case Verdict.fail: throw call.failure(effects, .onHead, at: index)
    default:
      call.stages.open(index)
      position = index
      try take(effects)
      return true
    }
  }

  func next() async throws -> PullStream<Result>.Step {
    do {
      while ready.isEmpty, !isOver { try await pullOnce() }
    } catch {
      isOver = true
      if error.isChainControl { call.cancelOpenStages() } else { call.stages.close(position) }
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

  /// Passes a chunk to the plugin.
  ///
  /// - Returns: Whether the plugin has finished.
  private func parse(_ chunk: Data) async throws -> Bool {
    guard let onChunk = unsafe call.stages.group.onChunk[position] else { return false }
    call.beginStep(self)
    defer { call.endStep() }
    let event = unsafe try call.keep(call.view(ofChunk: chunk, sequence: sequence))
    sequence += 1
    let made = call.invoke(.onChunk, at: position) {
      unsafe onChunk(call.stages.instance(position), call.handle, call.stages.states[position], event)
    }
    if made.hasPassed { return false }
    let (verdict, effects) = try await call.outcome(of: made, .up)
    guard verdict != Verdict.fail else { throw parsingError(call.failure(effects, .onChunk, at: position)) }
    try take(effects)
    return verdict == Verdict.finish
  }

  private func finish() async throws {
    isOver = true
    call.beginStep(self)
    defer { call.endStep() }
    do {
      try take(try await call.end(position))
    } catch let error as PluginError where error.code == .failed {
      throw parsingError(error)
    }
  }

  private func take(_ effects: StagedEffects) throws {
    for element in effects.elements {
      let body = try ResponseBody(element.bytes)
      var parsed = GraphQLResponse<Request.Operation>(body: body, source: .server, httpResponse: response.response)
      parsed.delivery = ResultDelivery(flags: element.flags)
      ready.append(
        Result(
          result: parsed,
          cacheRecords: includesRecords ? ApolloStore.records(of: body, to: request) : nil))
    }
  }

  /// The error of a parser, as an error of parsing.
  private func parsingError(_ error: PluginError) -> ResponseParsingError {
    ResponseParsingError(.other, "\(error.entry) cannot parse the response: \(error.message)", cause: error)
  }
}
