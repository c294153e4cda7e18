internal import FoundationEssentials
internal import SwiftProtobuf

/// The interceptors of one call, in the order of requests, and their hooks in the order of each direction.
struct CallChain<Interceptor: Sendable>: Sendable {
  let interceptors: [Interceptor]

  /// Hooks of requests.
  func outward<Value>(
    _ run: @escaping @Sendable (Interceptor, Value, @escaping Hook<Value>.Proceed) -> Void
  ) -> [Hook<Value>] {
    interceptors.map { interceptor in
      Hook(interceptor: "\(type(of: interceptor as Any))") { value, proceed in run(interceptor, value, proceed) }
    }
  }

  /// Hooks of responses, which cannot refuse.
  func inward<Value>(
    _ run: @escaping @Sendable (Interceptor, Value, @escaping @Sendable (Value) -> Void) -> Void
  ) -> [Hook<Value>] {
    outward { interceptor, value, proceed in run(interceptor, value) { proceed(.success($0)) } }.reversed()
  }
}

extension CallChain<any UnaryInterceptor> {
  /// Makes the interceptors of a unary call.
  init(unary config: ProtocolClientConfig) {
    interceptors = config.allInterceptors.compactMap { $0.unaryInterceptor(config) }
  }

  var rawRequest: [Hook<HTTPRequest<Data?>>] { outward { $0.handleUnaryRawRequest($1, proceed: $2) } }
  var rawResponse: [Hook<HTTPResponse>] { inward { $0.handleUnaryRawResponse($1, proceed: $2) } }

  func request<Message: ProtobufMessage>(_: Message.Type) -> [Hook<HTTPRequest<Message>>] {
    outward { $0.handleUnaryRequest($1, proceed: $2) }
  }

  func response<Message: ProtobufMessage>(_: Message.Type) -> [Hook<ResponseMessage<Message>>] {
    inward { $0.handleUnaryResponse($1, proceed: $2) }
  }
}

extension CallChain<any StreamInterceptor> {
  /// Makes the interceptors of a stream.
  init(stream config: ProtocolClientConfig) {
    interceptors = config.allInterceptors.compactMap { $0.streamInterceptor(config) }
  }

  var start: [Hook<HTTPRequest<Void>>] { outward { $0.handleStreamStart($1, proceed: $2) } }
  var rawResult: [Hook<StreamResult<Data>>] { inward { $0.handleStreamRawResult($1, proceed: $2) } }

  var rawInput: [Hook<Data>] {
    outward { interceptor, input, proceed in interceptor.handleStreamRawInput(input) { proceed(.success($0)) } }
  }

  func input<Message: ProtobufMessage>(_: Message.Type) -> [Hook<Message>] {
    outward { interceptor, input, proceed in interceptor.handleStreamInput(input) { proceed(.success($0)) } }
  }

  func result<Message: ProtobufMessage>(_: Message.Type) -> [Hook<StreamResult<Message>>] {
    inward { $0.handleStreamResult($1, proceed: $2) }
  }
}

/// Passes the figures of an exchange through the interceptors, last first.
struct MetricsPass: Sendable {
  let interceptors: [any Interceptor]

  func run(_ metrics: HTTPMetrics) {
    guard let last = interceptors.last else { return }
    let rest = MetricsPass(interceptors: interceptors.dropLast())
    last.handleResponseMetrics(metrics) { rest.run($0) }
  }
}

extension ProtocolClientConfig {
  /// The factories of calls: those of the configuration, and that of a custom protocol.
  fileprivate var allInterceptors: [InterceptorFactory] {
    if case .custom(_, let factory) = networkProtocol { interceptors + [factory] } else { interceptors }
  }
}
