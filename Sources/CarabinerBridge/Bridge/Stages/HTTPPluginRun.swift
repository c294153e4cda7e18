@_spi(InterceptorHints) internal import Carabiner

/// Consecutive HTTP stages of plugins, run in one loop: to the chain they are one interceptor.
package struct HTTPPluginRun: HTTPInterceptor {
  private let group: PluginStageGroup
  private let call: PluginCall

  package init(_ group: PluginStageGroup, call: PluginCall) {
    self.group = group
    self.call = call
  }

  var stageName: String { group.stages.map(\.plugin.options.name).joined(separator: ", ") }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let pipeline = try ResponsePipeline(
      HTTPMessage(request: request), through: group, call, timeout: request.timeoutInterval)
    do {
      if let made = pipeline.descend(), let answer = try await pipeline.descend(after: made), let head = answer.head {
        let chunks = PullStream(elements: answer.elements.map(\.bytes))
        return try await pipeline.ascend(HTTPResponse(response: head, chunks: chunks))
      }
      return try await pipeline.ascend(try await next(pipeline.message.request))
    } catch {
      try await pipeline.handle(error)
      // An HTTP stage cannot put anything in place of an error, so `handle` has thrown.
      throw error
    }
  }
}
