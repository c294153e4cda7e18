internal import CarabinerCalls

extension UnaryHooks where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Makes the interceptors of a unary call.
  init(_ config: ProtocolClientConfig) {
    let chain = CallChain(interceptors: config.allInterceptors.compactMap { $0.unaryInterceptor(config) })
    self.init(
      request: chain.outward { $0.handleUnaryRequest($1, proceed: $2) },
      rawRequest: chain.outward { $0.handleUnaryRawRequest($1, proceed: $2) },
      rawResponse: chain.inward { $0.handleUnaryRawResponse($1, proceed: $2) },
      response: chain.inward { $0.handleUnaryResponse($1, proceed: $2) },
      metrics: { MetricsPass(interceptors: chain.interceptors).run($0) })
  }
}

extension StreamHooks where Input: ProtobufMessage, Output: ProtobufMessage {
  /// Makes the interceptors of a stream.
  init(_ config: ProtocolClientConfig) {
    let chain = CallChain(interceptors: config.allInterceptors.compactMap { $0.streamInterceptor(config) })
    self.init(
      start: chain.outward { $0.handleStreamStart($1, proceed: $2) },
      input: chain.outward { stage, input, proceed in stage.handleStreamInput(input) { proceed(.success($0)) } },
      rawInput: chain.outward { stage, input, proceed in stage.handleStreamRawInput(input) { proceed(.success($0)) } },
      rawResult: chain.inward { $0.handleStreamRawResult($1, proceed: $2) },
      result: chain.inward { $0.handleStreamResult($1, proceed: $2) },
      metrics: { MetricsPass(interceptors: chain.interceptors).run($0) })
  }
}

extension ProtocolClientConfig {
  /// The factories of calls: those of the configuration, and that of a custom protocol.
  fileprivate var allInterceptors: [InterceptorFactory] {
    if case .custom(_, let factory) = networkProtocol { interceptors + [factory] } else { interceptors }
  }
}
