@_spi(InterceptorHints) internal import Carabiner

/// Consecutive GraphQL stages of plugins, run in one loop: to the chain they are one interceptor.
package struct GraphQLPluginRun: GraphQLInterceptor {
  private let group: PluginStageGroup
  private let call: PluginCall

  package init(_ group: PluginStageGroup, call: PluginCall) {
    self.group = group
    self.call = call
  }

  var stageName: String { "plugins" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  // Only a call, so that no metadata is looked up before the choice of the specialized function.
  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func beginPass<Request: GraphQLRequest>(_ request: inout Request) throws -> BegunPass<ParsedResult<Request.Operation>>? {
    try begin(&request)
  }

  @inline(never) private func begin<Request: GraphQLRequest>(
    _ request: inout Request
  ) throws -> BegunPass<ParsedResult<Request.Operation>> {
    let pipeline = try ResponsePipeline(
      GraphQLRequestMessage(request), through: group, call, timeout: request.requestTimeout)
    pipeline.descendPlainly()
    if !pipeline.isUnfinished { request = pipeline.message.request }
    return BegunPass(pipeline)
  }

  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    var request = request
    return try await finishPass(try begin(&request), request: request, next: next)
  }

  func finishPass<Request: GraphQLRequest>(
    _ begun: BegunPass<ParsedResult<Request.Operation>>, request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    guard let pipeline = begun.pass as? ResponsePipeline<GraphQLRequestMessage<Request>>, pipeline.isUnfinished else {
      return await next(request).passed(begun.pass)
    }
    do {
      if let made = pipeline.takeUnfinished(), let answer = try await pipeline.descend(after: made) {
        let results = try answer.elements.map { try pipeline.message.element(of: $0, replacing: nil) }
        pipeline.inner = PullStream(elements: results)
      } else if pipeline.call.pass.innerBaggage.isEmpty {
        pipeline.inner = await next(pipeline.message.request)
      } else {
        pipeline.inner = await Baggage.$current.withValue(Baggage.current.merging(pipeline.call.pass.innerBaggage)) {
          await next(pipeline.message.request).startedInThisScope()
        }
      }
    } catch {
      // The stages further out see the error when the stream is read.
      pipeline.inner = .failing(error)
    }
    return PullStream { try await pipeline.next() }
  }
}
