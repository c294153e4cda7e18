package import FoundationEssentials

/// The hooks of one unary call, each list in the order in which values pass it.
package struct UnaryHooks<Input: Sendable, Output: Sendable>: Sendable {
  let request: [Hook<HTTPRequest<Input>>]
  let rawRequest: [Hook<HTTPRequest<Data?>>]
  let rawResponse: [Hook<HTTPResponse>]
  let response: [Hook<ResponseMessage<Output>>]
  let metrics: MetricsHook?

  package init(
    request: [Hook<HTTPRequest<Input>>] = [], rawRequest: [Hook<HTTPRequest<Data?>>] = [], rawResponse: [Hook<HTTPResponse>] = [],
    response: [Hook<ResponseMessage<Output>>] = [], metrics: MetricsHook? = nil
  ) {
    self.request = request
    self.rawRequest = rawRequest
    self.rawResponse = rawResponse
    self.response = response
    self.metrics = metrics
  }
}
