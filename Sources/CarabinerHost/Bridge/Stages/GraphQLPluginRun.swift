@_spi(InterceptorHints) internal import Carabiner

/// Consecutive GraphQL stages of plugins, run in one loop: to the chain they are one interceptor.
struct GraphQLPluginRun: GraphQLInterceptor {
  private let group: PluginStageGroup
  private let call: PluginCall

  init(_ group: PluginStageGroup, call: PluginCall) {
    self.group = group
    self.call = call
  }

  var stageName: String { "plugins" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  @_specialize(where Request == JSONRequest<DynamicOperation>)
  func intercept<Request: GraphQLRequest>(
    request: Request, next: NextInterceptorFunction<Request>
  ) async throws -> InterceptorResultStream<Request> {
    let pipeline = try ResponsePipeline(
      GraphQLRequestMessage(request), through: group, call, timeout: request.requestTimeout)
    do {
      if let made = pipeline.descend(), let answer = try await pipeline.descend(after: made) {
        let results = try answer.elements.map { try pipeline.message.element(of: $0, replacing: nil) }
        pipeline.inner = PullStream(elements: results)
      } else if pipeline.call.innerBaggage.isEmpty {
        pipeline.inner = await next(pipeline.message.request)
      } else {
        pipeline.inner = await Baggage.$current.withValue(Baggage.current.merging(pipeline.call.innerBaggage)) {
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
