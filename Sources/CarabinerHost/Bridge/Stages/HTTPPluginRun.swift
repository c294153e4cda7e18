@_spi(InterceptorHints) internal import Carabiner

/// Consecutive HTTP stages of plugins, run in one loop: to the chain they are one interceptor.
struct HTTPPluginRun: HTTPInterceptor {
  private let lanes: CallStatePool

  init(_ row: PluginStageGroup, call: PluginCall) { lanes = CallStatePool(row, call: call) }

  var stageName: String { "plugins" }
  var traits: InterceptorHints { [.tracesItself, .bindsNoTaskLocals] }

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    let ascent = HTTPResponsePipeline(
      pass: try lanes.beginPass(timeout: request.timeoutInterval), message: HTTPMessage(request: request))
    return try await ascent.handlingErrors {
      if let answer = try await ascent.descend() { return try await ascent.ascend(answer) }
      return try await ascent.ascend(try await next(ascent.message.request))
    }
  }
}
